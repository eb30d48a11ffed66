package io.railhead.gateway.channel;

import io.railhead.cache.Removal;
import io.railhead.cache.RemovalQueue;
import io.railhead.gateway.object.cacheonly.CacheOnlyKeys;
import io.railhead.gateway.s3.Guard;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RemovedKeys;
import io.railhead.protocol.channel.RemovedKeys.Removed;
import io.railhead.protocol.channel.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One subscription of a channel to removals below a prefix, and the request that waits for them, if
 * there is one. Any thread; no call blocks.
 *
 * <p> Rights are asked for each key when it is told, on a virtual thread, which alone takes
 * removals: a policy that was read again holds from then on.
 */
final class RemovalSubscription implements AutoCloseable {
    /** The most removals that wait for a subscriber. */
    static final int MAX_UNTOLD = 1024;

    private final String prefix;
    private final Supplier<@Nullable CacheOnlyKeys> rights;
    private final BiConsumer<Request, Answer> answered;
    private final BiConsumer<Request, Throwable> failed;
    private final RemovalQueue queue;
    private final AtomicReference<@Nullable Waiting> waiting = new AtomicReference<>();
    /** Calls of {@link #tellSoon} that no pass has seen; a virtual thread runs until it is 0. */
    private final AtomicInteger work = new AtomicInteger();
    /** Touched by the one pass alone, as {@link #anew} is. */
    private final Queue<Removal> taken = new ArrayDeque<>();
    private boolean anew;
    private volatile boolean closed;

    /** A request, and the end of its time. */
    private record Waiting(Request request, CompletableFuture<@Nullable Void> over) {}

    /**
     * Begins the subscription.
     *
     * @param rights returns what the caller may see now; null once the bucket or the caller is gone
     * @param answered receives each answer, on any thread
     * @param failed receives what was thrown while an answer was made, on any thread
     */
    RemovalSubscription(CacheOnlyKeys keys, String prefix,
            Supplier<@Nullable CacheOnlyKeys> rights, BiConsumer<Request, Answer> answered,
            BiConsumer<Request, Throwable> failed) {
        this.prefix = prefix;
        this.rights = rights;
        this.answered = answered;
        this.failed = failed;
        this.queue = keys.subscribe(prefix, MAX_UNTOLD, this::tellSoon);
    }

    /** Has a request wait for removals, at most so long; false if another one waits. */
    boolean tryAwait(Request request, int millis) {
        Waiting mine = new Waiting(request, new CompletableFuture<>());
        if (!waiting.compareAndSet(null, mine)) {
            return false;
        }
        var _ = mine.over()
                .completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                .thenRun(this::tellSoon);
        tellSoon();
        return true;
    }

    boolean isClosed() {
        return closed;
    }

    /** Returns whether the request waits here. */
    boolean isOf(int requestId) {
        Waiting now = waiting.get();
        return now != null && now.request().id() == requestId;
    }

    /** Runs under the cache's locks, too. */
    private void tellSoon() {
        if (waiting.get() != null && work.getAndIncrement() == 0) {
            Thread.ofVirtual().name("railhead-removals").start(this::tell);
        }
    }

    private void tell() {
        int seen;
        do {
            seen = work.get();
            Waiting now = waiting.get();
            if (now != null) {
                Guard.run(() -> tell(now), thrown -> {
                    // The removals taken for this answer are lost.
                    anew = true;
                    if (end(now)) {
                        failed.accept(now.request(), thrown);
                    }
                });
            }
        } while (work.addAndGet(-seen) != 0);
    }

    private void tell(Waiting now) {
        CacheOnlyKeys allowed = rights.get();
        if (allowed == null) {
            close("unsupported");
            return;
        }
        if (taken.isEmpty()) {
            RemovalQueue.Taken more = queue.take();
            anew |= more.anew();
            taken.addAll(more.removals());
        }
        List<Removed> batch = batch(allowed);
        if ((anew || !batch.isEmpty() || now.over().isDone()) && end(now)) {
            answered.accept(now.request(),
                    new RemovedKeys(anew, batch).answer(now.request().id()));
            anew = false;
        }
    }

    private List<Removed> batch(CacheOnlyKeys allowed) {
        List<Removed> batch = new ArrayList<>();
        int room = RemovedKeys.MAX_BYTES;
        for (Removal next = taken.peek(); next != null; next = taken.peek()) {
            if (allowed.mayRead(next.key())) {
                Removed told = new Removed(next.key().substring(prefix.length()),
                        reason(next.reason()));
                room -= told.encodedBytes();
                if (room < 0) {
                    break;
                }
                batch.add(told);
            }
            taken.remove();
        }
        return batch;
    }

    private static RemovedKeys.Reason reason(Removal.Reason reason) {
        return switch (reason) {
            case DELETED -> RemovedKeys.Reason.DELETED;
            case EVICTED -> RemovedKeys.Reason.EVICTED;
            case EXPIRED -> RemovedKeys.Reason.EXPIRED;
        };
    }

    /** Ends the wait; false if it was ended before. */
    private boolean end(Waiting now) {
        boolean mine = waiting.compareAndSet(now, null);
        now.over().cancel(false);
        return mine;
    }

    /** Ends the subscription; a request that waits is answered with status 0 and this reason. */
    void close(String reason) {
        closed = true;
        queue.close();
        Waiting now = waiting.get();
        if (now != null && end(now)) {
            answered.accept(now.request(), Answer.declined(now.request().id(), reason));
        }
    }

    /** Ends the subscription without an answer. */
    @Override
    public void close() {
        closed = true;
        queue.close();
        Waiting now = waiting.get();
        if (now != null) {
            boolean _ = end(now);
        }
    }
}
