package io.railhead.cache;

import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Verifies all cached pages, a few in each step, again and again. One thread steps. {@link #close}
 * waits for a step under way; afterwards no page is touched.
 */
final class Scrubber implements AutoCloseable {
    private static final long STEP_MILLIS = 100;

    private final PageIndex index;
    private final long bytesPerStep;
    private Iterator<Set<PageKey>> sets = Collections.emptyIterator();
    private Iterator<PageKey> keys = Collections.emptyIterator();
    /** The bytes that may be verified; negative after a page that was larger. */
    private long credit;
    private boolean closed;

    private Scrubber(PageIndex index, long bytesPerSecond) {
        this.index = index;
        this.bytesPerStep = Math.max(1, bytesPerSecond * STEP_MILLIS / 1000);
    }

    /**
     * Returns a scrubber that steps on the executor at the configured rate; at a rate of 0 it never
     * does.
     */
    static Scrubber every(PageIndex index, Verification verification,
            ScheduledExecutorService executor) {
        Scrubber scrubber = new Scrubber(index, verification.scrubBytesPerSecond());
        if (verification.scrubBytesPerSecond() > 0) {
            Future<?> _ = executor.scheduleWithFixedDelay(scrubber::step, STEP_MILLIS, STEP_MILLIS,
                    TimeUnit.MILLISECONDS);
        }
        return scrubber;
    }

    /** Verifies some pages, and none twice in a step, however few there are. */
    synchronized void step() {
        credit = Math.min(bytesPerStep, credit + bytesPerStep);
        if (!hasNext()) {
            sets = index.keys().iterator();
        }
        while (!closed && credit > 0 && hasNext()) {
            credit -= index.scrub(keys.next());
        }
    }

    private boolean hasNext() {
        while (!keys.hasNext() && sets.hasNext()) {
            keys = sets.next().iterator();
        }
        return keys.hasNext();
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
