package io.railhead.cache.disk;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The tenants that a volume's segments belong to, and the choice of the segment to write next. A
 * tenant that needs one takes a free segment first, unless it has as many as its quota allows. Then
 * it takes the oldest one of the tenant that is furthest above its floor, until both are equally
 * far above. Beyond that its own oldest segment goes. So nobody is pushed below a floor, and
 * without rules tenants share evenly what all of them want.
 *
 * <p> Any thread counts; one thread at a time changes.
 */
final class SegmentShares {
    static final int NONE = -1;

    private final @Nullable TenantId[] owners;
    private final ConcurrentMap<TenantId, Integer> counts = new ConcurrentHashMap<>();
    private final Map<TenantId, Limits> rules;

    /** A tenant's limits in segments. */
    record Limits(int quota, int floor) {
        static final Limits NO_RULE = new Limits(Integer.MAX_VALUE, 0);
    }

    /** The state of segments, on which the choice depends. */
    interface Segments {
        /** Returns the order in which it was opened; 0 if it is free. */
        long sequence(int segment);

        /** Returns whether it can be written anew now. */
        boolean isUsable(int segment);
    }

    SegmentShares(int segments, Map<TenantId, Limits> rules) {
        this.owners = new TenantId[segments];
        this.rules = Map.copyOf(rules);
    }

    void owns(int segment, @Nullable TenantId tenant) {
        TenantId before = owners[segment];
        if (before != null) {
            counts.merge(before, -1, SegmentShares::sum);
        }
        owners[segment] = tenant;
        if (tenant != null) {
            counts.merge(tenant, 1, SegmentShares::sum);
        }
    }

    private static @Nullable Integer sum(Integer one, Integer other) {
        return one + other == 0 ? null : one + other;
    }

    @Nullable
    TenantId owner(int segment) {
        return owners[segment];
    }

    int count(TenantId tenant) {
        return counts.getOrDefault(tenant, 0);
    }

    private Limits limits(TenantId tenant) {
        return rules.getOrDefault(tenant, Limits.NO_RULE);
    }

    /** Returns whether a further segment of the tenant replaces one of its own. */
    boolean isAtQuota(TenantId tenant) {
        return count(tenant) >= limits(tenant).quota();
    }

    private int aboveFloor(TenantId tenant) {
        return count(tenant) - limits(tenant).floor();
    }

    /**
     * Returns the segment to write next for a tenant; {@link #NONE} if it may take none.
     *
     * @param withPages whether only a segment with pages helps, since the index is full
     */
    int choose(TenantId tenant, Segments segments, boolean withPages) {
        Oldest oldest = new Oldest();
        for (int each = 0; each < owners.length; each++) {
            if (segments.isUsable(each)) {
                oldest.add(each, owners[each], segments.sequence(each));
            }
        }
        int own = oldest.of(tenant);
        if (isAtQuota(tenant)) {
            return own;
        }
        if (oldest.free != NONE && !withPages) {
            return oldest.free;
        }
        TenantId donor = furthestAboveFloor(oldest, segments);
        if (donor == null) {
            return own;
        }
        int gap = aboveFloor(donor) - aboveFloor(tenant);
        boolean gives = !donor.equals(tenant) && aboveFloor(donor) > 0 && (own == NONE || gap > 1);
        return gives ? oldest.of(donor) : own;
    }

    private @Nullable TenantId furthestAboveFloor(Oldest oldest, Segments segments) {
        TenantId furthest = null;
        for (TenantId each : oldest.tenants()) {
            if (furthest == null || aboveFloor(each) > aboveFloor(furthest)
                    || (aboveFloor(each) == aboveFloor(furthest)
                            && segments.sequence(oldest.of(each)) < segments
                                    .sequence(oldest.of(furthest)))) {
                furthest = each;
            }
        }
        return furthest;
    }

    /** The oldest usable segment of each tenant. */
    private static final class Oldest {
        private final Map<TenantId, Integer> byTenant = new ConcurrentHashMap<>();
        private final Map<TenantId, Long> sequences = new ConcurrentHashMap<>();
        private int free = NONE;

        void add(int segment, @Nullable TenantId tenant, long sequence) {
            if (sequence == 0 || tenant == null) {
                free = free == NONE ? segment : free;
            } else if (sequence < sequences.getOrDefault(tenant, Long.MAX_VALUE)) {
                byTenant.put(tenant, segment);
                sequences.put(tenant, sequence);
            }
        }

        int of(TenantId tenant) {
            return byTenant.getOrDefault(tenant, NONE);
        }

        List<TenantId> tenants() {
            return new ArrayList<>(byTenant.keySet());
        }
    }

    /** Returns the segments of a tenant. */
    BitSet segmentsOf(TenantId tenant) {
        BitSet found = new BitSet();
        for (int each = 0; each < owners.length; each++) {
            if (tenant.equals(owners[each])) {
                found.set(each);
            }
        }
        return found;
    }
}
