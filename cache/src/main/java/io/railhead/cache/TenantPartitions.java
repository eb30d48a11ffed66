package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cached pages in partitions: one for each tenant that has a rule, one for all others, and one
 * for guests, which are pages that other gateways keep as their own. Their maxima add up to the
 * cacheable memory. A partition that needs more takes unused memory of another first. Then it takes
 * from the one furthest above its floor, until both are equally far above. Beyond that, and beyond
 * its quota, its own coldest pages are evicted.
 *
 * <p> Reads take no lock: a page is searched where pages of the same object were found last. A put
 * takes one lock briefly, and none if there is a single partition.
 */
final class TenantPartitions {
    /** The part of a tenant's room that leased objects may take: one half. */
    static final int LEASED_PART = 2;
    private static final int HINTS = 1 << 12;

    private final TenantPartition rest;
    private final Map<String, TenantPartition> byTenant = new LinkedHashMap<>();
    /** Null if no gateway shares pages with this one. */
    private final @Nullable TenantPartition guests;
    private final TenantPartition[] all;
    private final long stepBytes;
    /** The partition in which an object's pages were found; a race only costs a further lookup. */
    private final byte[] hints = new byte[HINTS];

    /**
     * @param stepBytes the least that is moved between partitions, if there is as much
     * @param evictionCounts counts the pages that are condemned
     * @param lower takes pages that a policy gives up; null if nobody does
     */
    TenantPartitions(Map<String, TenantQuota> rules, long stepBytes,
            EvictionCounts evictionCounts, @Nullable LowerTier lower) {
        this(rules, 0, stepBytes, evictionCounts, lower);
    }

    /** @param guestBytes the most bytes of guests; 0 if there are none */
    TenantPartitions(Map<String, TenantQuota> rules, long guestBytes, long stepBytes,
            EvictionCounts evictionCounts, @Nullable LowerTier lower) {
        if (rules.size() >= Byte.MAX_VALUE) {
            throw new IllegalArgumentException("too many tenants' rules: " + rules.size());
        }
        this.stepBytes = stepBytes;
        this.rest = new TenantPartition(new TenantQuota(TenantQuota.NO_QUOTA, 0), evictionCounts,
                lower);
        rules.forEach(
                (tenant, rule) -> byTenant.put(tenant,
                        new TenantPartition(rule, evictionCounts, lower)));
        List<TenantPartition> shares = new ArrayList<>(List.of(rest));
        shares.addAll(byTenant.values());
        this.guests = guestBytes == 0
                ? null
                : new TenantPartition(new TenantQuota(guestBytes, 0), evictionCounts, lower);
        if (guests != null) {
            shares.add(guests);
        }
        this.all = shares.toArray(TenantPartition[]::new);
    }

    TenantPartition of(String tenant) {
        return byTenant.getOrDefault(tenant, rest);
    }

    /** Returns the partition that a page goes to. */
    TenantPartition of(String tenant, Page page) {
        return guests != null && page.isGuest() ? guests : of(tenant);
    }

    TenantPartition[] all() {
        return all;
    }

    /** Returns the partition with the most cache-only objects, in memory and on disk. */
    TenantPartition withMostObjects() {
        return Arrays.stream(all)
                .max(Comparator.comparingInt(TenantPartition::cacheOnlyObjects))
                .orElse(rest);
    }

    /** Returns a page without counting a use. */
    @Nullable
    Page peek(PageKey key) {
        for (TenantPartition tenantPartition : all) {
            Page page = tenantPartition.peek(key);
            if (page != null) {
                return page;
            }
        }
        return null;
    }

    /** Returns the page for a read that starts at this offset. */
    @Nullable
    Page get(PageKey key, int from) {
        if (all.length == 1) {
            return get(rest, key, from);
        }
        int hint = key.version().object().key().hashCode() & (HINTS - 1);
        int first = hints[hint];
        Page page = get(all[first], key, from);
        for (int i = 0; page == null && i < all.length; i++) {
            page = i == first ? null : get(all[i], key, from);
            if (page != null) {
                hints[hint] = (byte) i;
            }
        }
        return page;
    }

    private static @Nullable Page get(TenantPartition tenantPartition, PageKey key, int from) {
        Page page = tenantPartition.peek(key);
        if (page != null && !page.wasReadTo(from)) {
            tenantPartition.touch(key);
        }
        return page;
    }

    /** Returns the partition that has the page. */
    @Nullable
    TenantPartition find(PageKey key) {
        for (TenantPartition tenantPartition : all) {
            if (tenantPartition.peek(key) != null) {
                return tenantPartition;
            }
        }
        return null;
    }

    void put(TenantPartition tenantPartition, PageKey key, Page ownedPage) {
        announce(tenantPartition, ownedPage.slotBytes());
        tenantPartition.put(key, ownedPage);
        tenantPartition.trimCacheOnly();
    }

    /** Sets who evicts cache-only objects; before any is put. */
    void ownedBy(CacheOnlyObjects objects) {
        for (TenantPartition tenantPartition : all) {
            tenantPartition.ownedBy(objects);
        }
    }

    /**
     * Reserves room for a cache-only object, whose partition grows as for a page. Its oldest
     * objects are evicted if that is not enough.
     *
     * @param nowNanos the cache's clock
     * @return false, with nothing changed, if too few may go
     */
    boolean tryReserve(TenantPartition tenantPartition, long bytes, CacheOnlyObjects objects,
            long nowNanos) {
        List<CacheOnlyObject> oldest;
        synchronized (this) {
            long pageBytes = tenantPartition.pageBytes();
            announce(tenantPartition, bytes);
            oldest = tenantPartition.cacheOnly()
                    .tryReserve(bytes, tenantPartition.cacheOnlyLimit(pageBytes), nowNanos);
            if (oldest == null) {
                tenantPartition.announce(-bytes);
                return false;
            }
            tenantPartition.follow(stepBytes);
        }
        EvictionCause cause = tenantPartition.maximum() == tenantPartition.quotaBytes()
                ? EvictionCause.QUOTA
                : EvictionCause.PRESSURE;
        for (CacheOnlyObject object : oldest) {
            boolean _ = objects.evict(object, cause);
        }
        return true;
    }

    /** Returns the number of partitions that may have cache-only objects: all but the guests'. */
    int owners() {
        return 1 + byTenant.size();
    }

    /**
     * Returns the most bytes of a partition's cache-only objects that may be leased: a half of what
     * they may have now, or of the room that the partition could claim, if that is more. That is
     * its floor and an equal part of the memory beyond all floors, within its quota. Such claims of
     * all partitions fit in memory together, so leases leave each its floor.
     */
    long leasableBytes(TenantPartition tenantPartition) {
        long floors = Arrays.stream(all).mapToLong(TenantPartition::floorBytes).sum();
        long equalPart = Math.max(0, capacityBytes() - floors) / owners();
        long claim = Math.min(tenantPartition.quotaBytes(),
                tenantPartition.floorBytes() + equalPart);
        return Math.max(tenantPartition.cacheOnlyLimit(tenantPartition.pageBytes()), claim)
                / LEASED_PART;
    }

    /** Gives up a reservation. */
    void release(TenantPartition tenantPartition, long bytes) {
        tenantPartition.cacheOnly().release(bytes);
        tenantPartition.announce(-bytes);
    }

    /** Leaves to cached pages what cache-only objects do not need any more. */
    synchronized void follow() {
        for (TenantPartition tenantPartition : all) {
            tenantPartition.follow(stepBytes);
        }
    }

    private void announce(TenantPartition tenantPartition, long bytes) {
        if (all.length == 1) {
            tenantPartition.announce(bytes);
            return;
        }
        synchronized (this) {
            tenantPartition.announce(bytes);
            long wanted = Math.min(tenantPartition.bytes(), tenantPartition.quotaBytes())
                    - tenantPartition.maximum();
            if (wanted > 0) {
                grow(tenantPartition, Math.min(Math.max(wanted, stepBytes),
                        tenantPartition.quotaBytes() - tenantPartition.maximum()));
            }
        }
    }

    private void grow(TenantPartition tenantPartition, long wanted) {
        long missing = wanted - takeUnused(tenantPartition, wanted);
        while (missing > 0) {
            TenantPartition donor = furthestAboveFloor();
            long gap = donor.aboveFloor() - tenantPartition.aboveFloor();
            boolean owed = tenantPartition.aboveFloor() <= 0;
            // Pages that are only announced are not part of its maximum yet.
            long spare = Math.min(donor.aboveFloor(), donor.maximum());
            long taken = Math.min(missing, Math.min(spare, owed ? gap : gap / 2));
            // A small gap is left alone: each change makes both policies visit their pages.
            if (taken <= 0 || (!owed && taken < stepBytes)) {
                return;
            }
            donor.setMaximum(donor.maximum() - taken);
            tenantPartition.setMaximum(tenantPartition.maximum() + taken);
            missing -= taken;
        }
    }

    private long takeUnused(TenantPartition tenantPartition, long wanted) {
        long taken = 0;
        for (TenantPartition other : all) {
            long unused = Math.clamp(other.maximum() - other.bytes(), 0, wanted - taken);
            if (other != tenantPartition && unused > 0) {
                other.setMaximum(other.maximum() - unused);
                taken += unused;
            }
        }
        tenantPartition.setMaximum(tenantPartition.maximum() + taken);
        return taken;
    }

    private TenantPartition furthestAboveFloor() {
        return Arrays.stream(all)
                .filter(tenantPartition -> tenantPartition.maximum() > 0)
                .max(Comparator.comparingLong(TenantPartition::aboveFloor))
                .orElse(rest);
    }

    /** Sets the maximum of all partitions together. */
    synchronized void limit(long totalBytes) {
        long over = Arrays.stream(all).mapToLong(TenantPartition::maximum).sum() - totalBytes;
        if (over <= 0) {
            rest.setMaximum(rest.maximum() - over);
            return;
        }
        for (TenantPartition tenantPartition : all) {
            long unused = Math.clamp(tenantPartition.maximum() - tenantPartition.bytes(), 0, over);
            tenantPartition.setMaximum(tenantPartition.maximum() - unused);
            over -= unused;
        }
        while (over > 0) {
            TenantPartition donor = furthestAboveFloor();
            // Floors that exceed the total cannot be kept.
            long taken = Math.min(Math.min(over, donor.maximum()),
                    Math.max(donor.aboveFloor(), stepBytes));
            donor.setMaximum(donor.maximum() - taken);
            over -= taken;
        }
    }

    /**
     * Evicts cold pages for a fill of the tenant: its own ones if it is at its quota. Otherwise
     * those of the partitions that can spare most, its own among them.
     */
    void evictColdest(long bytes, String tenant) {
        TenantPartition asker = of(tenant);
        List<Donor> donors = asker.bytes() + bytes > asker.quotaBytes()
                ? List.of(new Donor(asker, bytes))
                : donors(asker);
        long missing = bytes;
        for (Donor donor : donors) {
            if (missing > 0) {
                missing -= donor.partition.evictColdest(donor.partition == asker
                        ? missing
                        : Math.min(missing, donor.spareBytes));
            }
        }
    }

    /** @param spareBytes as of one moment, since a sort needs numbers that stay */
    private record Donor(TenantPartition partition, long spareBytes) {}

    private List<Donor> donors(TenantPartition asker) {
        return Arrays.stream(all)
                .map(partition -> new Donor(partition, partition.spareBytes()))
                .filter(donor -> donor.partition == asker || donor.spareBytes > 0)
                .sorted(Comparator.comparingLong(Donor::spareBytes).reversed())
                .toList();
    }

    /** Returns the most bytes that may be cached, without pinned pages. */
    long capacityBytes() {
        return Arrays.stream(all).mapToLong(TenantPartition::maximum).sum();
    }

    /** Returns how many bytes more would evict nothing, apart from quotas. */
    long roomBytes() {
        long room = 0;
        for (TenantPartition tenantPartition : all) {
            room += tenantPartition.maximum() - tenantPartition.bytes();
        }
        return room;
    }

    long unreadBytes() {
        return Arrays.stream(all).mapToLong(TenantPartition::unreadBytes).sum();
    }

    List<TenantQuota.Use> uses() {
        List<TenantQuota.Use> uses = new ArrayList<>();
        byTenant.forEach((tenant, tenantPartition) -> uses
                .add(new TenantQuota.Use(tenant, tenantPartition.bytes(),
                        tenantPartition.quotaEvictions())));
        return uses;
    }
}
