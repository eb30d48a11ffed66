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
 * memory. Any thread; {@link #copy} blocks, for as long as the session lasts at most.
 */
final class BounceSyncs {
    private final Consumer<Sync> sender;
    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, CompletableFuture<Boolean>> asked = new ConcurrentHashMap<>();
    private volatile boolean ended;

    /** @param sender sends the message; called by any thread */
    BounceSyncs(Consumer<Sync> sender) {
        this.sender = sender;
    }

    /** Returns once the peer has copied; throws if it cannot, or its session ends. */
    void copy(boolean toPeer, long handle, long offset, long length) {
        int id = ids.incrementAndGet();
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        asked.put(id, answer);
        if (ended) {
            answer.cancel(false);
        } else {
            sender.accept(new Sync(id, toPeer, handle, offset, length));
        }
        boolean copied;
        try {
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

    /** Takes a peer's answer; throws if nothing was asked by this id. */
    void synced(Synced synced) throws MessageException {
        CompletableFuture<Boolean> answer = asked.get(synced.id());
        if (answer == null || !answer.complete(synced.copied())) {
            throw new MessageException("SYNCED " + synced.id() + " answers nothing");
        }
    }

    /** Ends all that is asked and will be. */
    void end() {
        ended = true;
        asked.values().forEach(answer -> answer.cancel(false));
    }
}
