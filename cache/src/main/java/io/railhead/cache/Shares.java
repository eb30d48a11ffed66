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
 * The cached pages in shares: one for each tenant that has a rule, one for all others. Their maxima
 * together are what may be cached. A share that needs more than its own takes what another does not
 * use, then from the one that is furthest above its floor, until it is as far above itself; beyond
 * that, and beyond its quota, its own coldest pages go.
 *
 * <p> Reads take no lock: a page is looked for where pages of the same object were found last. Who
 * puts a page takes one lock for moments, and none while there is only one share.
 */
final class Shares {
    private static final int HINTS = 1 << 12;

    private final Share rest;
    private final Map<String, Share> byTenant = new LinkedHashMap<>();
    private final Share[] all;
    private final long stepBytes;
    /** By object, where its pages were found; races only cost a look. */
    private final byte[] hints = new byte[HINTS];

    /**
     * @param stepBytes what is moved between shares at least, if there is as much
     * @param evictions counts the pages that were condemned
     */
    Shares(Map<String, TenantShare> rules, long stepBytes, Evictions evictions) {
        if (rules.size() >= Byte.MAX_VALUE) {
            throw new IllegalArgumentException("too many tenants' rules: " + rules.size());
        }
        this.stepBytes = stepBytes;
        this.rest = new Share(new TenantShare(TenantShare.NO_QUOTA, 0), evictions);
        rules.forEach((tenant, rule) -> byTenant.put(tenant, new Share(rule, evictions)));
        List<Share> shares = new ArrayList<>(List.of(rest));
        shares.addAll(byTenant.values());
        this.all = shares.toArray(Share[]::new);
    }

    Share of(String tenant) {
        return byTenant.getOrDefault(tenant, rest);
    }

    Share[] all() {
        return all;
    }

    /** A look that is no sign of the page's being wanted. */
    @Nullable
    Page peek(PageKey key) {
        for (Share share : all) {
            Page page = share.peek(key);
            if (page != null) {
                return page;
            }
        }
        return null;
    }

    /** For a read that begins so far into the page. */
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

    private static @Nullable Page get(Share share, PageKey key, int from) {
        Page page = share.peek(key);
        if (page != null && !page.wasReadTo(from)) {
            share.touch(key);
        }
        return page;
    }

    /** Where it is. */
    @Nullable
    Share find(PageKey key) {
        for (Share share : all) {
            if (share.peek(key) != null) {
                return share;
            }
        }
        return null;
    }

    void put(Share share, PageKey key, Page ownedPage) {
        announce(share, ownedPage.slotBytes());
        share.put(key, ownedPage);
    }

    private void announce(Share share, int bytes) {
        if (all.length == 1) {
            share.announce(bytes);
            return;
        }
        synchronized (this) {
            share.announce(bytes);
            long wanted = Math.min(share.bytes(), share.quotaBytes()) - share.maximum();
            if (wanted > 0) {
                grow(share, Math.min(Math.max(wanted, stepBytes),
                        share.quotaBytes() - share.maximum()));
            }
        }
    }

    private void grow(Share share, long wanted) {
        long missing = wanted - takeUnused(share, wanted);
        while (missing > 0) {
            Share donor = furthestAboveFloor();
            long gap = donor.aboveFloor() - share.aboveFloor();
            boolean owed = share.aboveFloor() <= 0;
            // Pages that are only announced are no part of its maximum yet.
            long spare = Math.min(donor.aboveFloor(), donor.maximum());
            long taken = Math.min(missing, Math.min(spare, owed ? gap : gap / 2));
            // A small gap is left alone: each move upsets both policies.
            if (taken <= 0 || (!owed && taken < stepBytes)) {
                return;
            }
            donor.setMaximum(donor.maximum() - taken);
            share.setMaximum(share.maximum() + taken);
            missing -= taken;
        }
    }

    private long takeUnused(Share share, long wanted) {
        long taken = 0;
        for (Share other : all) {
            long unused = Math.clamp(other.maximum() - other.bytes(), 0, wanted - taken);
            if (other != share && unused > 0) {
                other.setMaximum(other.maximum() - unused);
                taken += unused;
            }
        }
        share.setMaximum(share.maximum() + taken);
        return taken;
    }

    private Share furthestAboveFloor() {
        return Arrays.stream(all)
                .filter(share -> share.maximum() > 0)
                .max(Comparator.comparingLong(Share::aboveFloor))
                .orElse(rest);
    }

    /** What all may have together, from now on. */
    synchronized void limit(long totalBytes) {
        long over = Arrays.stream(all).mapToLong(Share::maximum).sum() - totalBytes;
        if (over <= 0) {
            rest.setMaximum(rest.maximum() - over);
            return;
        }
        for (Share share : all) {
            long unused = Math.clamp(share.maximum() - share.bytes(), 0, over);
            share.setMaximum(share.maximum() - unused);
            over -= unused;
        }
        while (over > 0) {
            Share donor = furthestAboveFloor();
            // Floors that are more than all there is cannot hold.
            long taken = Math.min(Math.min(over, donor.maximum()),
                    Math.max(donor.aboveFloor(), stepBytes));
            donor.setMaximum(donor.maximum() - taken);
            over -= taken;
        }
    }

    /** Evicts cold pages for a fill of the tenant's: its own where it is at its quota. */
    void evictColdest(long bytes, String tenant) {
        Share share = of(tenant);
        Share donor = share.bytes() + bytes > share.quotaBytes() ? share : furthestAboveFloor();
        donor.evictColdest(donor == share ? bytes : Math.min(bytes, donor.aboveFloor()));
    }

    /** So much may be held at most, pinned pages aside. */
    long capacityBytes() {
        return Arrays.stream(all).mapToLong(Share::maximum).sum();
    }

    /** So many bytes more would evict nothing, but for quotas. */
    long roomBytes() {
        long room = 0;
        for (Share share : all) {
            room += share.maximum() - share.bytes();
        }
        return room;
    }

    long unreadBytes() {
        return Arrays.stream(all).mapToLong(Share::unreadBytes).sum();
    }

    List<TenantShare.Use> uses() {
        List<TenantShare.Use> uses = new ArrayList<>();
        byTenant.forEach((tenant, share) -> uses
                .add(new TenantShare.Use(tenant, share.bytes(), share.quotaEvictions())));
        return uses;
    }
}
