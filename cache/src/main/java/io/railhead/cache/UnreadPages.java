package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Pages that were fetched ahead and that the policy gave up before anybody had asked for them, as
 * it does where all else is read again and again. They are kept a little longer, in part of what is
 * left free for fills, until others come. Owns each page until it is removed, which condemns it.
 * Any thread; no lock.
 */
final class UnreadPages {
    private final LongAdder evicted;
    private final ConcurrentMap<PageKey, Page> pages = new ConcurrentHashMap<>();
    /** In which they came; may name what is gone. */
    private final Queue<PageKey> order = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();
    private volatile long maximum;

    /** @param evicted counts pages that were condemned here for others */
    UnreadPages(LongAdder evicted) {
        this.evicted = evicted;
    }

    void limit(long newMaximum) {
        maximum = newMaximum;
        trim();
    }

    /** Frees nothing: {@link #trim} does. */
    void put(PageKey key, Page ownedPage) {
        Page before = pages.put(key, ownedPage);
        bytes.addAndGet(ownedPage.slotBytes());
        order.add(key);
        if (before != null) {
            left(before);
        }
    }

    /** The oldest go. */
    void trim() {
        while (bytes.get() > maximum) {
            PageKey oldest = order.poll();
            if (oldest == null) {
                return;
            }
            Page page = pages.remove(oldest);
            if (page != null) {
                left(page);
            }
        }
    }

    private void left(Page page) {
        bytes.addAndGet(-page.slotBytes());
        if (page.condemn()) {
            evicted.increment();
        }
    }

    @Nullable
    Page peek(PageKey key) {
        return pages.isEmpty() ? null : pages.get(key);
    }

    void invalidate(PageKey key) {
        Page page = pages.isEmpty() ? null : pages.remove(key);
        if (page != null) {
            bytes.addAndGet(-page.slotBytes());
            page.condemn();
        }
    }

    /** Takes it out as it is; false where it is not here. */
    boolean tryTake(PageKey key, Page page) {
        boolean taken = pages.remove(key, page);
        if (taken) {
            bytes.addAndGet(-page.slotBytes());
        }
        return taken;
    }

    void clear() {
        pages.keySet().forEach(this::invalidate);
        order.clear();
    }

    /** As they come and go. */
    Set<PageKey> keys() {
        return pages.keySet();
    }
}
