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
 * Pages that were fetched ahead and that the policy gave up before anybody had asked for them, as
 * it does where all else is read again and again. They are kept a little longer, in part of what is
 * left free for fills, until others come. Owns each page until it is removed, which condemns it.
 *
 * <p> Any thread. Who looks takes no lock; who changes something does, and frees nothing within it.
 */
final class PrefetchBuffer {
    private final EvictionCounts evictionCounts;
    private final ConcurrentMap<PageKey, Page> pages = new ConcurrentHashMap<>();
    /** The keys as they came. Guarded by this, as all that changes. */
    private final Set<PageKey> order = new LinkedHashSet<>();
    private long bytes;
    private long maximum;

    /** @param evictionCounts counts pages that make room here */
    PrefetchBuffer(EvictionCounts evictionCounts) {
        this.evictionCounts = evictionCounts;
    }

    void limit(long newMaximum) {
        synchronized (this) {
            maximum = newMaximum;
        }
        trim();
    }

    /** Makes no room: {@link #trim} does. */
    void put(PageKey key, Page ownedPage) {
        invalidate(key);
        synchronized (this) {
            pages.put(key, ownedPage);
            order.add(key);
            bytes += ownedPage.slotBytes();
        }
    }

    /** The oldest go. */
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

    /** Condemns the page; false where it is not here. */
    boolean invalidate(PageKey key) {
        Page page = pages.get(key);
        if (page == null || !tryTake(key, page)) {
            return false;
        }
        page.condemn();
        return true;
    }

    /** Takes it out as it is; false where it is not here. */
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

    /** As they come and go. */
    Set<PageKey> keys() {
        return pages.keySet();
    }
}
