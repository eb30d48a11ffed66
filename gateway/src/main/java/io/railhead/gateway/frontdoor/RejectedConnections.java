package io.railhead.gateway.frontdoor;

import io.prometheus.client.Counter;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Rejected connections: each is counted, and one a minute is logged. Any thread. */
public final class RejectedConnections implements Consumer<String> {
    private static final Logger LOG = LoggerFactory.getLogger(RejectedConnections.class);
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Counter closed;
    private final LongSupplier nanoClock;
    private final AtomicLong dueNanos;

    /** @param closed the counter, by reason */
    public RejectedConnections(Counter closed, LongSupplier nanoClock) {
        this.closed = closed;
        this.nanoClock = nanoClock;
        this.dueNanos = new AtomicLong(nanoClock.getAsLong());
    }

    @Override
    public void accept(String reason) {
        closed.labels(reason).inc();
        long now = nanoClock.getAsLong();
        long due = dueNanos.get();
        if (now - due >= 0 && dueNanos.compareAndSet(due, now + QUIET_NANOS)) {
            LOG.warn("client connections are closed: as many are open as may be"
                    + " (railhead_admission_limit{what=\"connections\"}); raise the limit of open"
                    + " files (ulimit -n, LimitNOFILE), or gateway.admission.connections");
        }
    }
}
