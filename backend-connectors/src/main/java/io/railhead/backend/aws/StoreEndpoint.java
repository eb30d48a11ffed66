package io.railhead.backend.aws;

import io.railhead.backend.Target;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** One address of a store, with its record of failures. Any thread. */
final class StoreEndpoint {
    private final URI uri;
    private final AtomicInteger outstanding = new AtomicInteger();
    private final AtomicInteger connected = new AtomicInteger();
    private final AtomicBoolean asked = new AtomicBoolean();
    private final FailureEvidence failureEvidence; // guarded by this
    private int ejectionsInRow;
    private boolean ejected;

    /** @param ejectAfter the number of failed objects, if most requested ones failed */
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

    /** Counts an attempt; paired with {@link #release} at its end, its body included. */
    void claim() {
        outstanding.incrementAndGet();
    }

    void release() {
        outstanding.decrementAndGet();
    }

    /** Returns the number of attempts that have a connection. */
    int connected() {
        return connected.get();
    }

    /** Counts a connection; paired with {@link #disconnect}. */
    void connect() {
        connected.incrementAndGet();
    }

    void disconnect() {
        connected.decrementAndGet();
    }

    synchronized boolean isHealthy() {
        return !ejected;
    }

    /** Notes a response about this object. */
    synchronized void answered(Target target) {
        ejectionsInRow = 0;
        if (!ejected && failureEvidence.isEmpty()) {
            return;
        }
        failureEvidence.answered(target, System.nanoTime());
        ejected &= failureEvidence.isEnough();
    }

    /**
     * Notes a failure. Returns the number of ejections in a row if this failure ejected the
     * endpoint, else 0.
     */
    synchronized int failed(Target target) {
        failureEvidence.failed(target, System.nanoTime());
        return failureEvidence.isEnough() ? eject() : 0;
    }

    /**
     * Ejects the endpoint after a failure that no object can cause; returns as {@link #failed}
     * does.
     */
    synchronized int eject() {
        if (ejected) {
            return 0;
        }
        ejected = true;
        return ++ejectionsInRow;
    }

    /** Readmits the endpoint after a successful probe. */
    synchronized void readmit() {
        ejected = false;
        failureEvidence.clear();
    }

    /**
     * Notes a failed probe; returns the number of ejections in a row, or 0 if the endpoint was
     * readmitted meanwhile.
     */
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
