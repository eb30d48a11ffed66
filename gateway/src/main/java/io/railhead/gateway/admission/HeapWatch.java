package io.railhead.gateway.admission;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** This process's heap, looked at by a thread of its own until it is closed. */
public final class HeapWatch implements AutoCloseable {
    private static final long EVERY_MILLIS = 100;

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1,
            Thread.ofPlatform().daemon().name("railhead-heap").factory());

    /** Begins to look. */
    public HeapWatch(HeapPressure pressure) {
        Future<?> _ = timer.scheduleWithFixedDelay(pressure::look, EVERY_MILLIS, EVERY_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    /**
     * Reads how much of the heap's maximum long-lived objects had when they were last collected.
     * Until the first such collection, that is nothing.
     */
    public static double heldAfterCollection() {
        return (double) POOLS.stream()
                .map(MemoryPoolMXBean::getCollectionUsage)
                .mapToLong(MemoryUsage::getUsed)
                .sum() / Runtime.getRuntime().maxMemory();
    }

    private static final List<MemoryPoolMXBean> POOLS = ManagementFactory.getMemoryPoolMXBeans()
            .stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .filter(pool -> pool.getCollectionUsage() != null)
            // What is young is collected all the time, and tells nothing.
            .filter(MemoryPoolMXBean::isUsageThresholdSupported)
            .toList();

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
