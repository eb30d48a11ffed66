package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests in the current session with the gateway that owns the bytes that they read. If
 * that session ended and a repetition is safe, or there is none, the gateway that the client was
 * given takes them, in a fresh session if need be. Any thread.
 *
 * <p> A window belongs to its owner again when its request's future has completed. The exception is
 * a {@link MemoryHeldException}: then it stays the gateway's for good.
 */
final class ChannelRequests implements BlockChannel {
    private static final int MOST_ATTEMPTS = 3;
    private static final long FIRST_PAUSE_MILLIS = 100;

    private final Gateways gateways;
    private final Executor blocking;
    private final Duration timeout;
    private final boolean home;

    private ChannelRequests(Gateways gateways, boolean home, Executor blocking, Duration timeout) {
        this.home = home;
        this.gateways = gateways;
        this.blocking = blocking;
        this.timeout = timeout;
    }

    /**
     * Reads go to the owners of their bytes.
     *
     * @param blocking runs calls that open sessions
     * @param timeout the longest wait for an answer; then the session is closed, since only its end
     *            shows that the windows are free
     */
    static ChannelRequests atOwners(Gateways gateways, Executor blocking, Duration timeout) {
        return new ChannelRequests(gateways, false, blocking, timeout);
    }

    /** All requests go to the gateway that the client was given; see {@link #atOwners}. */
    static ChannelRequests atHome(Gateways gateways, Executor blocking, Duration timeout) {
        return new ChannelRequests(gateways, true, blocking, timeout);
    }

    /** Sends one request and waits, with the least delay; an interrupt does not end the wait. */
    Answer call(UnboundRequest unboundRequest) throws IOException {
        Pending one = new Pending(unboundRequest);
        Session session = ready(owner(one));
        List<Request> requests = session == null ? null : findRequests(session, List.of(one));
        if (session == null || requests == null) {
            prepareAndPost(List.of(one));
            return FutureFailures.join(one.outcome);
        }
        CompletableFuture<Answer> underWay = new CompletableFuture<>();
        watch(session, underWay, timeout.toNanos());
        try {
            settle(session, one, session.peer().call(requests.getFirst()), null);
        } catch (IOException | RuntimeException | Error e) {
            settle(session, one, null, e);
        } finally {
            underWay.cancel(false);
        }
        return FutureFailures.join(one.outcome);
    }

    @Override
    public Duration timeout() {
        return timeout;
    }

    @Override
    public List<Answer> ask(List<UnboundRequest> drafts) throws IOException {
        if (drafts.size() == 1) {
            return List.of(call(drafts.getFirst()));
        }
        List<Answer> answers = new ArrayList<>(drafts.size());
        for (CompletableFuture<Answer> answer : send(drafts)) {
            answers.add(FutureFailures.join(answer));
        }
        return answers;
    }

    @Override
    public List<CompletableFuture<Answer>> send(List<UnboundRequest> drafts) {
        List<Pending> pending = new ArrayList<>(drafts.size());
        List<CompletableFuture<Answer>> answers = new ArrayList<>(drafts.size());
        try {
            for (UnboundRequest unboundRequest : drafts) {
                Pending one = new Pending(unboundRequest);
                pending.add(one);
                answers.add(one.outcome);
            }
        } catch (IllegalStateException closed) {
            pending.forEach(one -> one.fail(closed));
            throw closed;
        }
        if (!pending.isEmpty()) {
            byOwner(pending).forEach(this::send);
        }
        return answers;
    }

    private void send(Sessions owner, List<Pending> pending) {
        Session session = ready(owner);
        List<Request> requests = session == null ? null : findRequests(session, pending);
        if (session != null && requests != null) {
            post(session, pending, requests);
        } else {
            blocking.execute(() -> prepareAndPost(pending));
        }
    }

    /** Returns null if there is no session yet, or nobody has asked who owns what. */
    private @Nullable Session ready(Sessions owner) {
        if (!home && gateways.isDue()) {
            if (!gateways.hasLooked()) {
                return null;
            }
            blocking.execute(gateways::look);
        }
        return owner.ready();
    }

    private Map<Sessions, List<Pending>> byOwner(List<Pending> pending) {
        Sessions first = owner(pending.getFirst());
        if (pending.size() == 1 || home || gateways.isAlone()) {
            return Map.of(first, pending);
        }
        Map<Sessions, List<Pending>> shares = new LinkedHashMap<>();
        for (Pending one : pending) {
            shares.computeIfAbsent(owner(one), _ -> new ArrayList<>()).add(one);
        }
        return shares;
    }

    private Sessions owner(Pending one) {
        Sessions owner = home || one.goesHome
                ? gateways.home()
                : gateways.ownerOf(one.unboundRequest.request());
        one.isAtHome = owner.equals(gateways.home());
        return owner;
    }

    /** Returns null if a buffer is not registered yet, or the gateway serves no such request. */
    private static @Nullable List<Request> findRequests(Session session, List<Pending> pending) {
        List<Request> requests = new ArrayList<>(pending.size());
        for (Pending one : pending) {
            if (!session.serves(one.unboundRequest)) {
                return null;
            }
            List<Integer> keys = new ArrayList<>(one.unboundRequest.windows().size());
            for (Window window : one.unboundRequest.windows()) {
                Integer key = session.findKey(window.buffer());
                if (key == null) {
                    return null;
                }
                keys.add(key);
            }
            requests.add(one.unboundRequest.with(keys));
        }
        return requests;
    }

    private static Request prepare(Session session, UnboundRequest unbound) throws IOException {
        session.requireServed(unbound);
        List<Integer> keys = new ArrayList<>(unbound.windows().size());
        for (Window window : unbound.windows()) {
            keys.add(session.register(window.buffer()));
        }
        return unbound.with(keys);
    }

    private void prepareAndPost(List<Pending> pending) {
        Map<Sessions, List<Pending>> shares;
        try {
            if (!home && !gateways.hasLooked()) {
                gateways.lookFirst();
            }
            shares = byOwner(pending);
        } catch (RuntimeException | Error e) {
            pending.forEach(one -> one.fail(e));
            return;
        }
        shares.forEach(this::prepareAndPost);
    }

    private void prepareAndPost(Sessions owner, List<Pending> pending) {
        if (!owner.equals(gateways.home())) {
            Session there = owner.ready();
            if (there == null) {
                pending.forEach(Pending::goHome);
                prepareAndPost(gateways.home(), pending);
            } else {
                prepareAndPost(there, pending);
            }
            return;
        }
        Session session;
        try {
            session = owner.require();
        } catch (IOException | RuntimeException | Error e) {
            pending.forEach(one -> failed(one, e));
            return;
        }
        prepareAndPost(session, pending);
    }

    private void prepareAndPost(Session session, List<Pending> pending) {
        List<Pending> ready = new ArrayList<>(pending.size());
        List<Request> requests = new ArrayList<>(pending.size());
        for (Pending one : pending) {
            try {
                requests.add(prepare(session, one.unboundRequest));
                ready.add(one);
            } catch (IOException | RuntimeException | Error e) {
                // This one alone fails: another one may be under way again.
                failed(one, e);
            }
        }
        post(session, ready, requests);
    }

    private void post(Session session, List<Pending> pending, List<Request> requests) {
        List<CompletionStage<Answer>> answers;
        try {
            answers = session.peer().send(requests);
        } catch (RuntimeException | Error e) {
            pending.forEach(one -> one.fail(e));
            return;
        }
        for (int i = 0; i < answers.size(); i++) {
            Pending one = pending.get(i);
            CompletionStage<Answer> answer = answers.get(i);
            watch(session, answer.toCompletableFuture(), timeout.toNanos());
            var _ = answer.whenComplete((value, failure) -> settle(session, one, value, failure));
        }
    }

    /**
     * Closes the session if the request is still under way after the timeout. If others were
     * answered since, the session stays: the request may have waited for its turn.
     */
    private void watch(Session session, CompletableFuture<?> underWay, long nanos) {
        if (underWay.isDone()) {
            return;
        }
        var _ = underWay.copy()
                .orTimeout(nanos, TimeUnit.NANOSECONDS)
                .whenComplete((_, failure) -> {
                    if (failure instanceof TimeoutException) {
                        long left = timeout.toNanos() - session.silentNanos();
                        if (left > 0) {
                            watch(session, underWay, left);
                        } else {
                            blocking.execute(session::end);
                        }
                    }
                });
    }

    private void settle(Session session, Pending one, @Nullable Answer answer,
            @Nullable Throwable failure) {
        if (answer != null) {
            boolean mayRepeat = one.attempts < MOST_ATTEMPTS;
            session.heard();
            boolean ended = answer.status() == 0 && !session.isUsable();
            boolean busy = isTransient(answer) && one.unboundRequest.isRepeatable();
            if (answer.status() == 0 && !one.isAtHome) {
                // The reason may be the owner's alone; home has its own cache-only objects, too.
                again(one, 0);
            } else if (mayRepeat && (ended || busy)) {
                again(one, busy ? FIRST_PAUSE_MILLIS << one.attempts : 0);
            } else {
                one.complete(answer);
            }
        } else if (failure != null) {
            Throwable cause = FutureFailures.unwrap(failure);
            List<Window> windows = one.unboundRequest.windows();
            if (cause instanceof ChannelEndedException e && !windows.isEmpty()
                    && !session.hasLetGo()) {
                windows.forEach(window -> window.buffer().markHeld());
                one.fail(new MemoryHeldException(e));
            } else {
                failed(one, cause);
            }
        }
    }

    /** Handles a failed request whose window nothing touches any more. */
    private void failed(Pending one, Throwable cause) {
        boolean isOwners = !one.isAtHome && cause instanceof NotAvailableException;
        if (isOwners
                || (one.attempts < MOST_ATTEMPTS && isSafeToRepeat(one.unboundRequest, cause))) {
            again(one, 0);
        } else {
            one.fail(cause);
        }
    }

    private static boolean isTransient(Answer answer) {
        return switch (answer.status()) {
            case 500, 502, 503, 504 -> true;
            default -> false;
        };
    }

    private static boolean isSafeToRepeat(UnboundRequest unboundRequest, Throwable failure) {
        return failure instanceof ChannelEndedException ended
                && (unboundRequest.isRepeatable() || !ended.isOutcomeUnknown());
    }

    private void again(Pending one, long pauseMillis) {
        one.attempts++;
        one.goHome();
        CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS, blocking)
                .execute(() -> prepareAndPost(List.of(one)));
    }

    /** A request under way. Its attempts follow one another. */
    private static final class Pending {
        private final UnboundRequest unboundRequest;
        private final CompletableFuture<Answer> outcome = new CompletableFuture<>();
        /** Passed on with the request itself, by one thread at a time. */
        private int attempts = 1;
        /** Passed on likewise. Its owner could not take it. */
        private boolean goesHome;
        private boolean isAtHome;

        Pending(UnboundRequest unboundRequest) {
            this.unboundRequest = unboundRequest;
            List<Window> held = new ArrayList<>(unboundRequest.windows().size());
            try {
                for (Window window : unboundRequest.windows()) {
                    window.buffer().hold();
                    held.add(window);
                }
            } catch (IllegalStateException closed) {
                held.forEach(window -> window.buffer().release());
                throw closed;
            }
        }

        void goHome() {
            goesHome = true;
            isAtHome = true;
        }

        void complete(Answer answer) {
            if (outcome.complete(answer)) {
                letGo();
            }
        }

        void fail(Throwable failure) {
            if (outcome.completeExceptionally(failure)) {
                letGo();
            }
        }

        private void letGo() {
            unboundRequest.windows().forEach(window -> window.buffer().release());
        }
    }
}
