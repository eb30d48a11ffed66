package io.railhead.backend.aws;

import io.railhead.backend.Target;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** One address of a store and how it has been doing. Any thread. */
final class StoreEndpoint {
    private final URI uri;
    private final AtomicInteger outstanding = new AtomicInteger();
    private final AtomicInteger connected = new AtomicInteger();
    private final AtomicBoolean asked = new AtomicBoolean();
    private final FailureEvidence failureEvidence; // guarded by this
    private int ejectionsInRow;
    private boolean ejected;

    /** @param ejectAfter so many objects that failed, and most of those asked for */
    StoreEndpoint(URI uri, int ejectAfter) {
        this.uri = uri;
        this.failureEvidence = new FailureEvidence(ejectAfter);
    }

    URI uri() {
        return uri;
    }

    int outstanding() {
        return outstanding.get();
    }

    /** Paired with {@link #release} once the exchange is over, its body included. */
    void claim() {
        outstanding.incrementAndGet();
    }

    void release() {
        outstanding.decrementAndGet();
    }

    /** Counts the exchanges that have a connection now. */
    int connected() {
        return connected.get();
    }

    /** Paired with {@link #disconnect}. */
    void connect() {
        connected.incrementAndGet();
    }

    void disconnect() {
        connected.decrementAndGet();
    }

    synchronized boolean isHealthy() {
        return !ejected;
    }

    /** It answered about this object, whatever it said of others. */
    synchronized void answered(Target target) {
        ejectionsInRow = 0;
        if (!ejected && failureEvidence.isEmpty()) {
            return;
        }
        failureEvidence.answered(target, System.nanoTime());
        ejected &= failureEvidence.isEnough();
    }

    /** How often it has now been ejected in a row, or 0 if this failure did not eject it. */
    synchronized int failed(Target target) {
        failureEvidence.failed(target, System.nanoTime());
        return failureEvidence.isEnough() ? eject() : 0;
    }

    /** The same of a failure that no object can be the reason of. */
    synchronized int eject() {
        if (ejected) {
            return 0;
        }
        ejected = true;
        return ++ejectionsInRow;
    }

    /** It answered a probe. */
    synchronized void readmit() {
        ejected = false;
        failureEvidence.clear();
    }

    /** A probe went unanswered; the new count of ejections, or 0 if it is back by itself. */
    synchronized int stayOut() {
        return ejected ? ++ejectionsInRow : 0;
    }

    /** Lets one caller at a time probe the endpoint; paired with {@link #endQuestion}. */
    boolean tryQuestion() {
        return asked.compareAndSet(false, true);
    }

    void endQuestion() {
        asked.set(false);
    }
}
