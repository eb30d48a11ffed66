package io.railhead.cache.writeback;

import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one write on their way into the file. One chunk is filled while the other one is
 * written. Calls come one at a time, each after the stage of the one before has completed. Ends by
 * {@link #close}, also after {@link WriteLog#commit} has taken its bytes.
 */
public final class LogUpload implements AutoCloseable {
    private static final CompletableFuture<@Nullable Void> DONE = CompletableFuture
            .completedFuture(null);

    private final WriteLog log;
    private final String owner;
    private final ChunkWorkers workers;
    private final MemorySegment memory;
    private final long lengthBytes;
    private final List<Extent> extents;
    private final int recordBytes;
    private final StoredBytes places;
    private final MessageDigest digest = newDigest();
    private final List<Integer> sums = new ArrayList<>();
    private final List<CompletableFuture<@Nullable Void>> underWay = new ArrayList<>(
            List.of(DONE, DONE));
    private CompletableFuture<@Nullable Void> last = DONE;
    private int filling;
    private int filled;
    private long taken;
    private long submitted;
    private byte[] md5 = new byte[0];
    private boolean moved;
    private final AtomicBoolean closed = new AtomicBoolean();

    LogUpload(WriteLog log, String owner, ChunkWorkers workers, MemorySegment ownedMemory,
            long lengthBytes, List<Extent> ownedExtents, int recordBytes) {
        this.log = log;
        this.owner = owner;
        this.workers = workers;
        this.memory = ownedMemory;
        this.lengthBytes = lengthBytes;
        this.extents = ownedExtents;
        this.recordBytes = recordBytes;
        this.places = new StoredBytes(lengthBytes, ownedExtents, List.of());
    }

    private static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Takes all of the bytes, which must stay unchanged until the stage completes. It fails with
     * {@link OsException} if the disk does, and if there are more bytes than announced.
     */
    public CompletionStage<@Nullable Void> take(ByteBuffer bytes) {
        if (taken + bytes.remaining() > lengthBytes) {
            return CompletableFuture.failedStage(
                    new IllegalArgumentException("more than " + lengthBytes + " bytes"));
        }
        return copy(bytes);
    }

    private CompletionStage<@Nullable Void> copy(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            CompletableFuture<@Nullable Void> room = underWay.get(filling);
            if (!room.isDone()) {
                return room.thenCompose(_ -> copy(bytes));
            }
            if (room.isCompletedExceptionally()) {
                return room;
            }
            int count = Math.min(bytes.remaining(), workers.chunkBytes() - filled);
            MemorySegment.copy(MemorySegment.ofBuffer(bytes), 0, chunk(), filled, count);
            bytes.position(bytes.position() + count);
            filled += count;
            taken += count;
            if (filled == workers.chunkBytes()) {
                submit();
            }
        }
        return underWay.get(filling);
    }

    private MemorySegment chunk() {
        return memory.asSlice((long) filling * workers.chunkBytes(), workers.chunkBytes());
    }

    private void submit() {
        MemorySegment chunk = chunk();
        int length = filled;
        long from = submitted;
        last = last.thenCompose(_ -> workers.run(() -> write(chunk, length, from)));
        underWay.set(filling, last);
        submitted += length;
        filling = 1 - filling;
        filled = 0;
    }

    private void write(MemorySegment chunk, int length, long from) {
        ByteBuffer bytes = chunk.asSlice(0, length).asByteBuffer();
        digest.update(bytes.duplicate());
        sums.add(LogReader.sum(bytes));
        long whole = LogLayout.wholeBlocks(length);
        // The block behind a short chunk has another tenant's former bytes.
        chunk.asSlice(length, whole - length).fill((byte) 0);
        try {
            places.forEachPiece(from, whole, (at, piece, count) -> workers.file()
                    .write(chunk.asSlice(piece, count), at));
        } catch (OsException e) {
            log.fail(e);
            throw e;
        }
    }

    /**
     * Ends the bytes: on the stage's completion all are written, though not flushed. It fails if
     * there are fewer than announced.
     */
    public CompletionStage<@Nullable Void> finish() {
        if (taken != lengthBytes) {
            return CompletableFuture.failedStage(new IllegalStateException(
                    "bytes taken: " + taken + " of " + lengthBytes));
        }
        if (filled > 0) {
            submit();
        }
        return last.<@Nullable Void>thenApply(_ -> {
            md5 = digest.digest();
            return null;
        });
    }

    /** Returns the MD5 of the bytes, once they are finished. */
    public byte[] md5() {
        return md5.clone();
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** Returns the name of whose write it is; "" for nobody. */
    public String owner() {
        return owner;
    }

    /** Returns the room that its record has in the journal until it is committed or closed. */
    int recordBytes() {
        return recordBytes;
    }

    /** Gives the bytes away; their room is the entry's. */
    StoredBytes moveBytes() {
        if (moved || closed.get() || md5.length == 0) {
            throw new IllegalStateException("not finished, or committed before");
        }
        moved = true;
        return new StoredBytes(lengthBytes, extents, sums);
    }

    /**
     * Frees the memory, and the room unless it was given away, once no write is under way. Any
     * thread; further calls do nothing, since the memory may be another upload's by then.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        boolean isKept = moved;
        var _ = last.whenComplete((_, _) -> {
            workers.release(memory);
            if (!isKept) {
                log.release(owner, extents, recordBytes);
            }
        });
    }
}
