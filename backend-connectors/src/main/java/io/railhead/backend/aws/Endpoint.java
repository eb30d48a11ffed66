package io.railhead.backend.aws;

import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;

/** One address of a store and how it has been doing. Any thread. */
final class Endpoint {
    private final URI uri;
    private final AtomicInteger outstanding = new AtomicInteger();
    private int failuresInRow;
    private int ejectionsInRow;
    private boolean ejected;

    Endpoint(URI uri) {
        this.uri = uri;
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

    synchronized boolean isHealthy() {
        return !ejected;
    }

    synchronized void succeeded() {
        failuresInRow = 0;
        ejectionsInRow = 0;
        ejected = false;
    }

    /** How often it has now been ejected in a row, or 0 if this failure did not eject it. */
    synchronized int failed(int ejectAfter) {
        failuresInRow++;
        if (ejected || failuresInRow < ejectAfter) {
            return 0;
        }
        ejected = true;
        return ++ejectionsInRow;
    }

    /** It answered a probe. One failure of a real request puts it out again, for longer. */
    synchronized void readmit(int ejectAfter) {
        ejected = false;
        failuresInRow = ejectAfter - 1;
    }

    /** A probe went unanswered; the new count of ejections, or 0 if it is back by itself. */
    synchronized int stayOut() {
        return ejected ? ++ejectionsInRow : 0;
    }
}
