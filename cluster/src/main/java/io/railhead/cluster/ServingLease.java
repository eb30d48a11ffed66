package io.railhead.cluster;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This gateway's right to serve what it knows without asking a store.
 *
 * <p> It lasts while every other member of the view has answered a question that is younger than
 * the lease. The time counts from this gateway's own question, by its own clock: a gateway that was
 * paused finds the right expired. An answer names the last change that its sender has cast. It
 * counts only if that change was applied here, so a member whose changes do not arrive gives no
 * lease.
 *
 * <p> Knowledge from before the moment is never covered. A moment is set whenever changes may have
 * been missed: by the first whole lease under each view, by a gap in a member's numbers, and by a
 * change that was named and has not come within the time of the lease.
 *
 * <p> Any thread. {@link #covers} takes no lock.
 */
final class ServingLease {
    private final long lengthNanos;
    private final LongSupplier nanoClock;
    private final Map<Member, Applied> applied = new HashMap<>();
    private final Map<Member, Missing> missing = new HashMap<>();
    private final Map<Member, Long> answeredAtNanos = new HashMap<>();
    private List<Member> others = List.of();
    private String view = "";
    private boolean isWhole;
    private boolean isEnded;
    private long gaps;
    private volatile Covered covered = Covered.NOTHING;

    /** The changes of one member that were applied here. */
    private record Applied(String view, long number) {}

    /** A change that a member has named and that has not come, since when. */
    private record Missing(long number, long sinceNanos) {}

    /**
     * The knowledge that the lease covers.
     *
     * @param isAlone whether there is nobody to ask, so that the lease does not end
     */
    private record Covered(boolean isAlone, boolean isHeld, long untilNanos, long sinceNanos) {
        static final Covered NOTHING = new Covered(false, false, 0, 0);
    }

    /** Holds nothing until there is a view. */
    ServingLease(Duration length, LongSupplier nanoClock) {
        this.lengthNanos = length.toNanos();
        this.nanoClock = nanoClock;
    }

    /** Returns whether what was learnt then may be served now without asking. */
    boolean covers(long learntAtNanos) {
        Covered now = covered;
        return now.isHeld && learntAtNanos - now.sinceNanos > 0
                && (now.isAlone || now.untilNanos - nanoClock.getAsLong() > 0);
    }

    /** Returns whether the lease is held now. */
    boolean isHeld() {
        Covered now = covered;
        return now.isHeld && (now.isAlone || now.untilNanos - nanoClock.getAsLong() > 0);
    }

    /** Begins another view: nothing is covered until all of its members have answered under it. */
    synchronized void membersAre(Membership membership) {
        if (isEnded) {
            return;
        }
        view = membership.id();
        others = membership.others();
        answeredAtNanos.clear();
        missing.clear();
        applied.keySet().retainAll(others);
        isWhole = others.isEmpty();
        covered = isWhole
                ? new Covered(true, true, 0, nanoClock.getAsLong())
                : Covered.NOTHING;
    }

    /**
     * Notes that a member's change is applied.
     *
     * @return false if changes before it are missing
     */
    synchronized boolean applied(Member from, String itsView, long number) {
        Applied before = applied.get(from);
        long last = before == null || !before.view.equals(itsView) ? 0 : before.number;
        if (number <= last) {
            // It was given up, so what it replaced is not covered.
            return true;
        }
        applied.put(from, new Applied(itsView, number));
        if (number == last + 1) {
            return true;
        }
        uncover();
        return false;
    }

    /** Covers nothing of before: a change is missing. */
    private void uncover() {
        gaps++;
        restart();
    }

    /**
     * Returns whether a change that a member has named did not come within the time of the lease:
     * then it is lost, and nothing of before is covered. Its writer waits no longer.
     */
    private boolean isGivenUp(Member from, long named) {
        long now = nanoClock.getAsLong();
        Missing before = missing.get(from);
        if (before == null || appliedOf(from) >= before.number) {
            missing.put(from, new Missing(named, now));
            return false;
        }
        if (now - before.sinceNanos < lengthNanos) {
            return false;
        }
        missing.remove(from);
        applied.put(from, new Applied(view, named));
        uncover();
        return true;
    }

    /** Takes a member's answer to this gateway's question. */
    synchronized void answered(Member from, Frame.Answer answer) {
        if (!answer.view().equals(view) || !others.contains(from)) {
            return;
        }
        if (appliedOf(from) < answer.last() && !isGivenUp(from, answer.last())) {
            return;
        }
        answeredAtNanos.merge(from, answer.askedAtNanos(),
                (before, now) -> now - before > 0 ? now : before);
        if (answeredAtNanos.size() < others.size()) {
            return;
        }
        long now = nanoClock.getAsLong();
        long oldest = now;
        for (long each : answeredAtNanos.values()) {
            oldest = each - oldest < 0 ? each : oldest;
        }
        // Members entered the view after this one, perhaps: until then they told it nothing.
        long since = isWhole ? covered.sinceNanos : now;
        isWhole = true;
        covered = new Covered(false, true, oldest + lengthNanos, since);
    }

    private long appliedOf(Member member) {
        Applied last = applied.get(member);
        return last == null || !last.view.equals(view) ? 0 : last.number;
    }

    /** Covers nothing of before: changes may have been missed. */
    synchronized void restart() {
        Covered now = covered;
        covered = new Covered(now.isAlone, now.isHeld, now.untilNanos, nanoClock.getAsLong());
    }

    /** Ends the lease for good. */
    synchronized void end() {
        isEnded = true;
        view = "";
        covered = Covered.NOTHING;
    }

    /** Returns how long ago the question was asked that a member answered last; null for none. */
    synchronized @Nullable Duration silence(Member member) {
        Long at = answeredAtNanos.get(member);
        return at == null ? null : Duration.ofNanos(nanoClock.getAsLong() - at);
    }

    /** Returns how often a member's changes were missing. */
    synchronized long gaps() {
        return gaps;
    }
}
