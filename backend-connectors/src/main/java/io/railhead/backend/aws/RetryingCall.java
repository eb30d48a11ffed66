package io.railhead.backend.aws;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.FetchTurn;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request up to its response's head, with all its attempts. Attempts follow one another, so
 * their state needs no lock. The deadline may expire at any time, and wins by completing the
 * answer.
 */
final class RetryingCall implements ConnectionPool.Abortable {

    private static final int SLOW_DOWN = 503;
    private static final int TOO_MANY = 429;
    /** Requests that are no fetches wait for the store's rate as those of one more tenant. */
    private static final FetchTurn OTHERS = FetchTurn.wanted("");

    /** The shared parts of all requests to one store. */
    record Route(BackendConfig config, ConnectionPool transport, StoreEndpoints endpoints,
            RequestEncoder encoder,
            Tuning tuning, Counters counters, @Nullable StoreRate rate) {}

    /** The gate of a fetch, and its place there. */
    record Admission(FetchGate gate, FetchTurn turn) {}

    private final Route route;
    private final BackendRequest request;
    private final RequestEncoder.TrailerUse trailers;
    private final @Nullable Admission admission;
    private final long startedNanos = System.nanoTime();
    private final long timeoutNanos;
    private final Duration answerIdle;
    private final CompletableFuture<BackendResponse> answer = new CompletableFuture<>();
    private volatile @Nullable StoreAttempt storeAttempt;
    private volatile @Nullable StreamBody body;
    private volatile @Nullable ScheduledFuture<?> deadline;
    private volatile boolean heldBack;
    private int attempts;

    /** @param admission the gate that each attempt waits for; null for none */
    RetryingCall(Route route, BackendRequest request, RequestEncoder.TrailerUse trailers,
            @Nullable Admission admission) {
        this.route = route;
        this.request = request;
        this.trailers = trailers;
        this.admission = admission;
        Duration own = request.timeout();
        this.timeoutNanos = (own == null ? route.config().answerTimeout() : own).toNanos();
        Duration idle = route.config().idleTimeout();
        this.answerIdle = own == null || own.compareTo(idle) < 0 ? idle : own;
    }

    CompletableFuture<BackendResponse> start() {
        var _ = answer.whenComplete((response, failure) -> {
            route.transport().ended(this);
            ScheduledFuture<?> pending = deadline;
            if (pending != null) {
                pending.cancel(false);
            }
            if (failure instanceof CancellationException) {
                cut(new BackendException(Reason.UNSENT, "cancelled", failure));
            }
        });
        route.transport().began(this);
        watch();
        attempt(null);
        return answer;
    }

    private void attempt(@Nullable StoreEndpoint failedBefore) {
        Admission awaited = admission;
        if (awaited == null) {
            attempt(failedBefore, () -> {});
        } else {
            awaited.gate()
                    .enter(awaited.turn(),
                            () -> attempt(failedBefore, awaited.gate()::left));
        }
    }

    /** @param leave called once at the end of the attempt, its body included */
    private void attempt(@Nullable StoreEndpoint failedBefore, Runnable leave) {
        StoreRate rate = route.rate();
        if (rate == null) {
            send(failedBefore, leave);
            return;
        }
        heldBack = true;
        boolean entered = rate.tryEnter(admission == null ? OTHERS : admission.turn(),
                new StoreRate.Attempt() {
                    @Override
                    public boolean isOver() {
                        return answer.isDone();
                    }

                    @Override
                    public void run() {
                        heldBack = false;
                        send(failedBefore, leave);
                    }
                });
        if (!entered) {
            leave.run();
            fail(rateLimited());
        }
    }

    private BackendException rateLimited() {
        return new BackendException(Reason.RATE_LIMITED,
                "the rate of backend " + route.config().name() + " is used up", null);
    }

    private void send(@Nullable StoreEndpoint failedBefore, Runnable leave) {
        if (answer.isDone()) {
            leave.run();
            return;
        }
        attempts++;
        StoreEndpoint storeEndpoint = route.endpoints().pick(failedBefore);
        RequestEncoder.Message message;
        try {
            message = route.encoder().write(request, storeEndpoint.uri(), trailers);
        } catch (RuntimeException | Error e) {
            leave.run();
            fail(new BackendException(Reason.UNSENT,
                    "request cannot be sent: " + e.getMessage(), e));
            return;
        }
        body = message.stream();
        StoreAttempt next = new StoreAttempt(message, storeEndpoint, answerIdle,
                route.transport(), route.counters());
        storeAttempt = next;
        if (answer.isDone()) {
            leave.run();
            return; // aborted meanwhile
        }
        storeEndpoint.claim();
        route.counters().sent(request, attempts);
        var _ = next.finished().thenRun(storeEndpoint::release).thenRun(leave);
        long sentNanos = System.nanoTime();
        var _ = next.answer()
                .whenComplete(
                        (response, failure) -> {
                            heard(response, failure, System.nanoTime() - sentNanos);
                            attempted(storeEndpoint, response, failure);
                        });
        next.start();
        if (!next.answer().isDone()) {
            next.watchConnecting(patience(message));
        }
    }

    /**
     * Returns the longest wait for a connection. With Expect it includes the store's reply, which
     * cannot be told apart.
     */
    private Duration patience(RequestEncoder.Message message) {
        Duration connecting = route.config().connectTimeout().multipliedBy(2);
        Duration asking = route.config().idleTimeout().dividedBy(2);
        return message.waitsToBeAskedFor() && asking.compareTo(connecting) > 0
                ? asking
                : connecting;
    }

    private void heard(@Nullable BackendResponse response, @Nullable Throwable failure,
            long nanos) {
        if (admission == null) {
            return;
        }
        FetchGate gate = admission.gate();
        boolean refused = response == null
                ? failure != null && HttpFailures.translate(failure).reason() == Reason.LATE
                : response.status() == SLOW_DOWN || response.status() == TOO_MANY;
        if (refused) {
            gate.refused();
        } else if (response != null) {
            gate.answered(nanos);
        }
    }

    private void attempted(StoreEndpoint storeEndpoint, @Nullable BackendResponse response,
            @Nullable Throwable failure) {
        if (failure != null || response == null) {
            BackendException cause = cause(failure);
            StreamBody flowing = body;
            if (flowing == null || !flowing.isSendersFault()) {
                route.endpoints().failed(storeEndpoint, request.target(), cause);
            }
            if (!isRepeatable(cause) || !mayRepeat() || !retry(storeEndpoint)) {
                fail(cause);
            }
            return;
        }
        if (isStoreFailure(response.status())) {
            route.endpoints().failed(storeEndpoint, request.target());
            if (request.isIdempotent() && retry(storeEndpoint)) {
                BodyDrain.discard(response.body());
                return;
            }
        } else {
            route.endpoints().answered(storeEndpoint, request.target());
        }
        if (!answer.complete(response)) {
            BodyDrain.discard(response.body());
        }
    }

    private BackendException cause(@Nullable Throwable failure) {
        return orBusy(HttpFailures.translate(
                failure == null ? new IllegalStateException("no answer") : failure));
    }

    /**
     * Replaces a timeout by BUSY if the pool is exhausted, which is no evidence about the store.
     */
    private BackendException orBusy(BackendException cause) {
        StoreAttempt last = storeAttempt;
        int most = route.config().maxConnections();
        return cause.reason() != Reason.UNSENT && cause.reason() != Reason.INTERNAL
                && last != null && last.lacksOneOf(most)
                        ? new BackendException(Reason.BUSY,
                                "all " + most + " connections to the store are taken", cause)
                        : cause;
    }

    /** Returns whether another attempt may succeed. */
    private static boolean isRepeatable(BackendException cause) {
        return switch (cause.reason()) {
            case UNREACHABLE, BUSY, LATE, BROKEN, MALFORMED -> true;
            case RATE_LIMITED, OVERSIZED, UNSENT, INTERNAL -> false;
        };
    }

    /** Returns whether the status is a failure of the store, for now or for this object. */
    static boolean isStoreFailure(int status) {
        return status == 500 || status == 502 || status == 503 || status == 504;
    }

    /**
     * Returns whether a retry is safe: the request is idempotent, or its body was never requested,
     * so that the store cannot have acted.
     */
    private boolean mayRepeat() {
        StoreAttempt last = storeAttempt;
        return request.isIdempotent() || (request.hasBody() && last != null
                && last.withdrawBody());
    }

    /** Starts another attempt; false if none is allowed. */
    private boolean retry(StoreEndpoint storeEndpoint) {
        if (attempts >= route.config().maxAttempts() || answer.isDone()) {
            return false;
        }
        long delay = route.tuning().retryDelay().computeDelay(attempts + 1).toNanos();
        if (delay >= startedNanos + timeoutNanos - System.nanoTime()) {
            return false;
        }
        try {
            var _ = route.transport()
                    .timer()
                    .schedule(() -> attempt(storeEndpoint), delay,
                            TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException _) {
            return false; // closing
        }
    }

    /**
     * Enforces the deadline. A streamed body may take as long as it makes progress; the store's
     * time to respond begins at its end.
     */
    private void watch() {
        if (answer.isDone()) {
            return;
        }
        StreamBody flowing = body;
        long dueNanos = flowing == null
                ? startedNanos + timeoutNanos
                : flowing.progressNanos() + (flowing.isSent()
                        ? timeoutNanos
                        : route.config().idleTimeout().toNanos());
        long left = dueNanos - System.nanoTime();
        if (left > 0) {
            scheduleWatch(Math.min(left, timeoutNanos));
            return;
        }
        if (heldBack) {
            abort(rateLimited());
            return;
        }
        BackendException late = new BackendException(Reason.LATE,
                flowing == null || flowing.isSent() ? "no answer in time" : "request body stalled",
                null);
        abort(orBusy(late));
    }

    private void scheduleWatch(long nanos) {
        try {
            deadline = route.transport()
                    .timer()
                    .schedule(this::watch, nanos,
                            TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            fail(new BackendException(Reason.UNSENT, "backend is closed", e));
        }
    }

    /** Fails the request, and aborts the current attempt. Any thread. */
    @Override
    public void abort(BackendException cause) {
        fail(cause);
        cut(cause);
    }

    private void cut(BackendException cause) {
        StoreAttempt current = storeAttempt;
        if (current != null) {
            current.abort(cause);
        }
    }

    private void fail(BackendException cause) {
        if (answer.completeExceptionally(cause)) {
            route.counters().failed();
        }
    }
}
