package io.railhead.cache;

import io.railhead.cache.memory.PageSlice;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A sink that collects a reader's bytes, and closes its slices at once or when told. */
final class Received implements RangeReader.Sink {

    /** How it ended: completely, or why not. */
    record End(@Nullable FillException cause, long atOffset) {}

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<End> end = new CompletableFuture<>();
    private final List<PageSlice> kept = new CopyOnWriteArrayList<>();
    private final boolean closing;

    private Received(boolean closing) {
        this.closing = closing;
    }

    static Received closing() {
        return new Received(true);
    }

    static Received keeping() {
        return new Received(false);
    }

    @Override
    public void slice(PageSlice ownedSlice) {
        append(ownedSlice, bytes);
        if (closing) {
            ownedSlice.close();
        } else {
            kept.add(ownedSlice);
        }
    }

    private static void append(PageSlice slice, ByteArrayOutputStream to) {
        for (ByteBuffer buffer : slice.buffers()) {
            byte[] copy = new byte[buffer.remaining()];
            buffer.get(copy);
            to.writeBytes(copy);
        }
    }

    @Override
    public void end() {
        end.complete(new End(null, -1));
    }

    @Override
    public void failed(FillException cause, long atOffset) {
        end.complete(new End(cause, atOffset));
    }

    List<PageSlice> kept() {
        return kept;
    }

    /** What the kept slices hold now. */
    byte[] bytesOfKept() {
        ByteArrayOutputStream now = new ByteArrayOutputStream();
        kept.forEach(slice -> append(slice, now));
        return now.toByteArray();
    }

    void closeKept() {
        List<PageSlice> theseSlices = List.copyOf(kept);
        // Closing brings more: those stay.
        kept.removeAll(theseSlices);
        theseSlices.forEach(PageSlice::close);
    }

    boolean hasEnded() {
        return end.isDone();
    }

    /** How it ended, within a deadline. */
    End awaitEnd() {
        return end.orTimeout(30, TimeUnit.SECONDS).join();
    }

    /** All bytes; throws where the reader failed. */
    byte[] awaitBytes() {
        End ended = awaitEnd();
        if (ended.cause() != null) {
            throw new AssertionError("failed at " + ended.atOffset(), ended.cause());
        }
        return bytes.toByteArray();
    }

    byte[] soFar() {
        return bytes.toByteArray();
    }
}
