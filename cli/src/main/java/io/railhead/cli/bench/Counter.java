package io.railhead.cli.bench;

import java.util.concurrent.atomic.AtomicLong;

/** A sum that one thread adds to and others read, without a lock or a fence. */
final class Counter {
    private final AtomicLong sum = new AtomicLong();

    /** The adding thread's alone. */
    void add(long count) {
        sum.setRelease(sum.getPlain() + count);
    }

    long get() {
        return sum.getAcquire();
    }
}
