package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Prefetched pages that the policy evicted before their first read, as it does where all other
 * pages are read often. They are kept a little longer, in part of the room reserved for fills.
 * Newer ones replace the oldest. The buffer owns each page until its removal, which condemns the
 * page.
 *
 * <p> Any thread. Lookups take no lock. Changes take the lock, and free no memory within it.
 */
final class PrefetchBuffer {
    private final EvictionCounts evictionCounts;
    private final ConcurrentMap<PageKey, Page> pages = new ConcurrentHashMap<>();
    /** The keys in order of arrival. Guarded by this object's monitor, as every change is. */
    private final Set<PageKey> order = new LinkedHashSet<>();
    private long bytes;
    private long maximum;

    /** @param evictionCounts counts pages that are evicted here */
    PrefetchBuffer(EvictionCounts evictionCounts) {
        this.evictionCounts = evictionCounts;
    }

    void limit(long newMaximum) {
        synchronized (this) {
            maximum = newMaximum;
        }
        trim();
    }

    /** Adds a page without evicting others; {@link #trim} must follow. */
    void put(PageKey key, Page ownedPage) {
        invalidate(key);
        synchronized (this) {
            pages.put(key, ownedPage);
            order.add(key);
            bytes += ownedPage.slotBytes();
        }
    }

    /** Evicts the oldest pages above the limit. */
    void trim() {
        for (Page page : takeExcess()) {
            if (page.condemn()) {
                evictionCounts.count(EvictionCause.PRESSURE);
            }
        }
    }

    private synchronized List<Page> takeExcess() {
        if (bytes <= maximum) {
            return List.of();
        }
        List<Page> excess = new ArrayList<>();
        for (Iterator<PageKey> oldest = order.iterator(); bytes > maximum && oldest.hasNext();) {
            Page page = pages.remove(oldest.next());
            oldest.remove();
            if (page != null) {
                bytes -= page.slotBytes();
                excess.add(page);
            }
        }
        return excess;
    }

    @Nullable
    Page peek(PageKey key) {
        return pages.get(key);
    }

    /** Condemns a page; false if it is not here. */
    boolean invalidate(PageKey key) {
        Page page = pages.get(key);
        if (page == null || !tryTake(key, page)) {
            return false;
        }
        page.condemn();
        return true;
    }

    /** Removes a page without condemning it; false if it is not here. */
    synchronized boolean tryTake(PageKey key, Page page) {
        boolean taken = pages.remove(key, page);
        if (taken) {
            order.remove(key);
            bytes -= page.slotBytes();
        }
        return taken;
    }

    void clear() {
        pages.keySet().forEach(this::invalidate);
    }

    /** Returns a live set of keys. */
    Set<PageKey> keys() {
        return pages.keySet();
    }
}
