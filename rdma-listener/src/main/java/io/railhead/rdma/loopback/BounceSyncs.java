package io.railhead.rdma.loopback;

import io.railhead.protocol.message.Message.Sync;
import io.railhead.protocol.message.Message.Synced;
import io.railhead.protocol.message.MessageException;
import java.io.EOFException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The copies that one connection's peer is asked to make between its bounce buffers and its own
 * memory. Any thread; {@link #copy} blocks until the peer answers or the session ends, which the
 * connection sees to once {@link #isLate} says so.
 */
final class BounceSyncs {
    private final Consumer<Sync> sender;
    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, Asked> asked = new ConcurrentHashMap<>();
    private volatile boolean ended;

    /** @param intervals those that began since */
    private record Asked(CompletableFuture<Boolean> answer, AtomicInteger intervals) {}

    /** @param sender sends the message; called by any thread */
    BounceSyncs(Consumer<Sync> sender) {
        this.sender = sender;
    }

    /** Returns once the peer has copied; throws if it cannot, or its session ends. */
    void copy(boolean toPeer, long handle, long offset, long length) {
        int id = ids.incrementAndGet();
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        boolean copied;
        try {
            asked.put(id, new Asked(answer, new AtomicInteger()));
            if (ended) {
                answer.cancel(false);
            } else {
                sender.accept(new Sync(id, toPeer, handle, offset, length));
            }
            copied = answer.join();
        } catch (CancellationException _) {
            copied = false;
        } finally {
            asked.remove(id);
        }
        if (!copied) {
            throw new UncheckedIOException(new EOFException("the bounce buffer has gone"));
        }
    }

    /** Takes a peer's answer; throws if nothing was asked by this id, and the session goes on. */
    void synced(Synced synced) throws MessageException {
        Asked which = asked.get(synced.id());
        if ((which == null || !which.answer.complete(synced.copied())) && !ended) {
            throw new MessageException("SYNCED " + synced.id() + " answers nothing");
        }
    }

    /** Begins an interval; returns whether a copy has waited for more than so many. */
    boolean isLate(int intervals) {
        boolean late = false;
        for (Asked each : asked.values()) {
            late |= each.intervals.incrementAndGet() > intervals;
        }
        return late;
    }

    /** Ends all that is asked and will be. */
    void end() {
        ended = true;
        asked.values().forEach(each -> each.answer.cancel(false));
    }
}
