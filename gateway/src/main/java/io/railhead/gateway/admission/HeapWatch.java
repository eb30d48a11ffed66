package io.railhead.gateway.admission;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A thread that checks this process's heap until it is closed. */
public final class HeapWatch implements AutoCloseable {
    private static final long EVERY_MILLIS = 100;

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1,
            Thread.ofPlatform().daemon().name("railhead-heap").factory());

    /** Starts the checks. */
    public HeapWatch(HeapPressure pressure) {
        Future<?> _ = timer.scheduleWithFixedDelay(pressure::look, EVERY_MILLIS, EVERY_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    /**
     * Returns the part of the heap's maximum that long-lived objects used after their last
     * collection; 0 before the first.
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
            // Young generations are collected all the time, and their usage shows nothing.
            .filter(MemoryPoolMXBean::isUsageThresholdSupported)
            .toList();

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
