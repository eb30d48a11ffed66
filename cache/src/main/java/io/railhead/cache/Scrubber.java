package io.railhead.cache;

import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Looks at all pages that are held, a few in each step, and begins anew when it has seen them all.
 * One thread steps; after {@link #close}, which waits for a step, no page is looked at.
 */
final class Scrubber implements AutoCloseable {
    private static final long STEP_MILLIS = 100;

    private final PageIndex index;
    private final long bytesPerStep;
    private Iterator<Set<PageKey>> sets = Collections.emptyIterator();
    private Iterator<PageKey> keys = Collections.emptyIterator();
    /** Of what it may look at; below 0 after a page that was larger. */
    private long credit;
    private boolean closed;

    private Scrubber(PageIndex index, long bytesPerSecond) {
        this.index = index;
        this.bytesPerStep = Math.max(1, bytesPerSecond * STEP_MILLIS / 1000);
    }

    /** One that steps on the executor, at the rate that is asked for; never at a rate of 0. */
    static Scrubber every(PageIndex index, Verification verification,
            ScheduledExecutorService executor) {
        Scrubber scrubber = new Scrubber(index, verification.scrubBytesPerSecond());
        if (verification.scrubBytesPerSecond() > 0) {
            Future<?> _ = executor.scheduleWithFixedDelay(scrubber::step, STEP_MILLIS, STEP_MILLIS,
                    TimeUnit.MILLISECONDS);
        }
        return scrubber;
    }

    /** No page twice, however few there are. */
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
