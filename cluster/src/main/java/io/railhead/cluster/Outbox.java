package io.railhead.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/**
 * The changes that this gateway casts, until every member has applied each, or can serve nothing
 * that it replaced. The latter is so once the lease has passed: an answer after the cast names the
 * change, and so gives a member that has not applied it no new lease.
 *
 * <p> A member that a view leaves out may still hold a lease from before. Changes wait that out as
 * well, unless the member has said farewell. Any thread; stages complete on the caller's.
 */
final class Outbox {
    /** The allowance for clocks that run at different rates, and for their readings. */
    private static final Duration ALLOWANCE = Duration.ofMillis(50);

    private final long waitNanos;
    private final LongSupplier nanoClock;
    private final Map<Numbered, Pending> pending = new LinkedHashMap<>();
    private final Set<Member> leaving = new HashSet<>();
    private List<Member> others = List.of();
    private String view = "";
    private long last;
    private long fencedUntilNanos;
    private long casts;
    private long unheard;
    private boolean isEnded;

    private record Numbered(String view, long number) {}

    /**
     * A change that waits.
     *
     * @param fromNanos before that a member that was left out may still hold a lease
     * @param untilNanos after that nobody who has not applied it holds one
     */
    private record Pending(Set<Member> awaited, long fromNanos, long untilNanos,
            CompletableFuture<Boolean> heard) {

        boolean isOver(long nowNanos) {
            return nowNanos - untilNanos >= 0
                    || (awaited.isEmpty() && nowNanos - fromNanos >= 0);
        }
    }

    /**
     * A change with its number.
     *
     * @param heard completes when no member serves what it replaced, with whether each has applied
     *            it; never fails
     * @param hasReceivers whether there is anybody to cast it to
     */
    record Entry(Frame.Change change, CompletionStage<Boolean> heard, boolean hasReceivers) {}

    Outbox(Duration lease, LongSupplier nanoClock) {
        this.waitNanos = lease.plus(ALLOWANCE).toNanos();
        this.nanoClock = nanoClock;
        this.fencedUntilNanos = nanoClock.getAsLong();
    }

    /** Begins another view, with numbers of its own. Earlier changes keep waiting. */
    synchronized void membersAre(Membership membership) {
        boolean isLeftOut = others.stream()
                .anyMatch(each -> !membership.others().contains(each) && !leaving.contains(each));
        if (isLeftOut) {
            fencedUntilNanos = nanoClock.getAsLong() + waitNanos;
        }
        leaving.retainAll(membership.others());
        view = membership.id();
        others = membership.others();
        last = 0;
    }

    /** Notes that a member serves nobody any more. */
    void saidFarewell(Member from) {
        List<Pending> over;
        synchronized (this) {
            leaving.add(from);
            pending.values().forEach(each -> each.awaited.remove(from));
            over = takeOver();
        }
        complete(over);
    }

    /**
     * Numbers a change, which the caller casts at once if there are receivers.
     *
     * @param patience waits longer than the lease for a change that counts only where it is applied
     */
    synchronized Entry next(byte[] payload, Duration patience) {
        long now = nanoClock.getAsLong();
        long wait = Math.max(waitNanos, patience.toNanos());
        Frame.Change change = new Frame.Change(view, ++last, payload);
        if (isEnded) {
            // The others have had the farewell, and wait for nothing of this gateway's.
            return new Entry(change, CompletableFuture.completedStage(others.isEmpty()), false);
        }
        casts++;
        Set<Member> awaited = new HashSet<>(others);
        awaited.removeAll(leaving);
        Pending waiting = new Pending(awaited, fencedUntilNanos, now + wait,
                new CompletableFuture<>());
        if (waiting.isOver(now)) {
            waiting.heard.complete(awaited.isEmpty());
        } else {
            pending.put(new Numbered(view, last), waiting);
        }
        return new Entry(change, waiting.heard, !others.isEmpty());
    }

    /** Takes a member's acknowledgement. */
    void applied(Member from, Frame.Applied acknowledged) {
        Pending waiting;
        synchronized (this) {
            Numbered which = new Numbered(acknowledged.view(), acknowledged.number());
            waiting = pending.get(which);
            if (waiting == null) {
                return;
            }
            waiting.awaited.remove(from);
            if (!waiting.isOver(nanoClock.getAsLong())) {
                return;
            }
            pending.remove(which);
        }
        waiting.heard.complete(waiting.awaited.isEmpty());
    }

    /** Ends the waits whose time has come; to be called often. */
    void tick() {
        List<Pending> over;
        synchronized (this) {
            over = takeOver();
        }
        complete(over);
    }

    private List<Pending> takeOver() {
        long now = nanoClock.getAsLong();
        List<Pending> over = new ArrayList<>();
        pending.values().removeIf(each -> {
            if (!each.isOver(now)) {
                return false;
            }
            unheard += each.awaited.isEmpty() ? 0 : 1;
            return over.add(each);
        });
        return over;
    }

    /** Ends all waits: this gateway has left. */
    void end() {
        List<Pending> all;
        synchronized (this) {
            isEnded = true;
            all = List.copyOf(pending.values());
            pending.clear();
        }
        complete(all);
    }

    private static void complete(List<Pending> over) {
        over.forEach(each -> each.heard.complete(each.awaited.isEmpty()));
    }

    /**
     * Returns the number of the last change in a view, for an answer to a member of it.
     *
     * @return empty if this gateway has another view, or if the member is none of it
     */
    synchronized OptionalLong lastIn(String asked, Member from) {
        return asked.equals(view) && others.contains(from)
                ? OptionalLong.of(last)
                : OptionalLong.empty();
    }

    /** Returns how many changes were cast. */
    synchronized long casts() {
        return casts;
    }

    /** Returns how many changes had to wait until the lease had passed. */
    synchronized long unheard() {
        return unheard;
    }
}
