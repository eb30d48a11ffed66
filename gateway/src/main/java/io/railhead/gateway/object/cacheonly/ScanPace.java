package io.railhead.gateway.object.cacheonly;

import java.util.function.BooleanSupplier;

/** The pace of a long scan: it lets others run now and then, and stops early. One thread. */
final class ScanPace {
    private static final int OBJECTS_AT_ONCE = 1000;

    private final BooleanSupplier isOver;
    private int objects;

    /** @param isOver returns whether nobody waits for the scan any more */
    ScanPace(BooleanSupplier isOver) {
        this.isOver = isOver;
    }

    /** Counts an object; false if the scan should stop. */
    // A virtual thread that computes leaves its carrier only so.
    @SuppressWarnings("ThreadPriorityCheck")
    boolean goesOn() {
        if (++objects % OBJECTS_AT_ONCE != 0) {
            return true;
        }
        Thread.yield();
        return !isOver.getAsBoolean();
    }
}
