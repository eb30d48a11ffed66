package io.railhead.cache.memory;

import java.util.concurrent.atomic.LongAdder;

/**
 * The open leases, counted by the tick of their opening. So the oldest is known, and opening costs
 * only a count. A lease older than {@link #TICKS} counts as a young one. Any thread; one thread
 * ticks.
 */
final class LeaseAges {
    static final int TICKS = 1024;

    private final LongAdder[] openedIn = new LongAdder[TICKS];
    private volatile int now;

    LeaseAges() {
        for (int i = 0; i < TICKS; i++) {
            openedIn[i] = new LongAdder();
        }
    }

    /** Counts a lease; returns its tick, to be passed back at its end. */
    int opened() {
        int tick = now;
        openedIn[tick].increment();
        return tick;
    }

    void closed(int tick) {
        openedIn[tick].decrement();
    }

    void tick() {
        now = (now + 1) % TICKS;
    }

    long open() {
        long sum = 0;
        for (LongAdder each : openedIn) {
            sum += each.sum();
        }
        return sum;
    }

    /** Returns the age in whole ticks; 0 if none is open. */
    int oldest() {
        int last = now;
        for (int age = TICKS - 1; age > 0; age--) {
            if (openedIn[(last - age + TICKS) % TICKS].sum() > 0) {
                return age;
            }
        }
        return 0;
    }
}
