package io.railhead.gateway.admission;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the requests in flight of one tenant, or of all tenants. Any thread; never blocks. */
final class InFlightCounter {
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    /** Returns the number of requests, including this one. */
    int enter(long moreBytes) {
        bytes.addAndGet(moreBytes);
        return requests.incrementAndGet();
    }

    int leave(long heldBytes) {
        bytes.addAndGet(-heldBytes);
        return requests.decrementAndGet();
    }

    void hold(long moreBytes) {
        bytes.addAndGet(moreBytes);
    }

    int requests() {
        return requests.get();
    }

    long bytes() {
        return bytes.get();
    }
}
