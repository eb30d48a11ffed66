package io.railhead.cache.disk;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The pages that wait for one disk. Tenants take turns, and where there is no room a tenant takes
 * it from the one that has most. So a flood of one delays another's page by one write for each
 * tenant, and pushes none out. Any thread; its lock is held for no call of the disk.
 */
final class WriteQueue {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition filled = lock.newCondition();
    /** In the order of their turns; none is empty. */
    private final Map<TenantId, Deque<WaitingPage>> byTenant = new LinkedHashMap<>();
    private final Map<TenantId, Long> bytes = new HashMap<>();

    void add(WaitingPage page) {
        lock.lock();
        try {
            byTenant.computeIfAbsent(page.tenant(), _ -> new ArrayDeque<>()).addLast(page);
            bytes.merge(page.tenant(), (long) page.bytes(), Long::sum);
            filled.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the page whose turn it is; null if there is none now. */
    @Nullable
    WaitingPage poll() {
        lock.lock();
        try {
            Iterator<Map.Entry<TenantId, Deque<WaitingPage>>> turns = byTenant.entrySet()
                    .iterator();
            if (!turns.hasNext()) {
                return null;
            }
            Map.Entry<TenantId, Deque<WaitingPage>> turn = turns.next();
            TenantId tenant = turn.getKey();
            Deque<WaitingPage> pages = turn.getValue();
            turns.remove();
            WaitingPage first = pages.removeFirst();
            if (!pages.isEmpty()) {
                byTenant.put(tenant, pages);
            }
            left(first);
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a page for some time; null if none came. */
    @Nullable
    WaitingPage poll(long millis) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(millis);
            while (byTenant.isEmpty() && left > 0) {
                left = filled.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
        return poll();
    }

    /**
     * Takes the youngest page of the tenant that has most, if that has more than the other one will
     * have with its new page.
     *
     * @return null if the other one has its share
     */
    @Nullable
    WaitingPage tryTakeFor(TenantId other, int newBytes) {
        lock.lock();
        try {
            TenantId most = other;
            long least = bytes.getOrDefault(other, 0L) + newBytes;
            for (Map.Entry<TenantId, Long> each : bytes.entrySet()) {
                if (each.getValue() > least) {
                    most = each.getKey();
                    least = each.getValue();
                }
            }
            Deque<WaitingPage> pages = most.equals(other) ? null : byTenant.get(most);
            if (pages == null) {
                return null;
            }
            WaitingPage youngest = pages.removeLast();
            if (pages.isEmpty()) {
                byTenant.remove(most);
            }
            left(youngest);
            return youngest;
        } finally {
            lock.unlock();
        }
    }

    /** Takes this very page; false if it does not wait here any more. */
    boolean tryTake(WaitingPage page) {
        lock.lock();
        try {
            Deque<WaitingPage> pages = byTenant.get(page.tenant());
            if (pages == null || !pages.remove(page)) {
                return false;
            }
            if (pages.isEmpty()) {
                byTenant.remove(page.tenant());
            }
            left(page);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void left(WaitingPage page) {
        bytes.compute(page.tenant(), (_, before) -> {
            long left = (before == null ? 0 : before) - page.bytes();
            return left == 0 ? null : left;
        });
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return byTenant.isEmpty();
        } finally {
            lock.unlock();
        }
    }
}
