package io.railhead.cluster;

import io.railhead.protocol.placement.Ownership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The owners of views that ended a short while ago, newest first. They may still hold what others
 * own now. Immutable.
 */
record EndedViews(List<Ended> newestFirst) {
    /** The time for which an owner of before is worth a question. */
    static final Duration KEPT = Duration.ofMinutes(10);
    /** Views come in quick succession where a network is cut again and again. */
    static final int MOST = 16;
    static final EndedViews NONE = new EndedViews(List.of());

    /**
     * One of the owners of a view.
     *
     * @param member null for this gateway
     */
    record Owner(@Nullable Member member, long hash) {}

    /** The owners of a view, in the order of their names. */
    record Ended(List<Owner> owners, long atNanos) {
        Ended {
            owners = List.copyOf(owners);
        }

        boolean isOver(long nowNanos) {
            return nowNanos - atNanos > KEPT.toNanos();
        }
    }

    EndedViews {
        newestFirst = List.copyOf(newestFirst);
    }

    /** @param own the name of this gateway; null if it was no owner */
    EndedViews and(Set<Member> others, @Nullable String own, long nowNanos) {
        List<Owner> owners = new ArrayList<>();
        if (own != null) {
            owners.add(new Owner(null, Ownership.member(own)));
        }
        others.stream()
                .sorted(Comparator.comparing(Member::name))
                .forEach(each -> owners.add(new Owner(each, Ownership.member(each.name()))));
        List<Ended> kept = new ArrayList<>();
        kept.add(new Ended(owners, nowNanos));
        for (Ended each : newestFirst) {
            if (kept.size() < MOST && !each.isOver(nowNanos)) {
                kept.add(each);
            }
        }
        return new EndedViews(kept);
    }
}
