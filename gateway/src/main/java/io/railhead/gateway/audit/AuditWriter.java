package io.railhead.gateway.audit;

import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bounded queue of one destination, and the thread that empties it. An event that cannot be
 * written is kept and written again each second; meanwhile the queue fills. Events that find it
 * full are lost and counted. Offering: any thread, never blocks.
 */
final class AuditWriter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AuditWriter.class);
    static final int CAPACITY = 8192;
    /** Room that only events of unlimited kinds may take. */
    static final int RESERVED = CAPACITY / 4;
    private static final long TICK_MILLIS = 1_000;
    /** A write that takes longer counts as failing. */
    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final AuditSink sink;
    private final OcsfLine format;
    private final Counter lost;
    private final Gauge.Child failingGauge;
    private final Duration closeTime;
    private final BlockingQueue<Entry> queue = new ArrayBlockingQueue<>(CAPACITY);
    private final Thread thread;
    private volatile boolean failing;
    private volatile boolean closing;
    /** The time when the current write began; 0 between writes. */
    private volatile long busySinceNanos;

    private record Entry(AuditEvent event, long sequence) {}

    /** @param closeTime the longest wait for queued events at the stop */
    AuditWriter(AuditSink sink, OcsfLine format, Counter lost, Gauge failing,
            Duration closeTime) {
        this.sink = sink;
        this.format = format;
        this.lost = lost;
        this.failingGauge = failing.labels(sink.name());
        this.closeTime = closeTime;
        lost.labels(sink.name(), "full");
        lost.labels(sink.name(), "stopped");
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("railhead-audit-" + sink.name())
                .unstarted(this::run);
    }

    AuditWriter start() {
        thread.start();
        return this;
    }

    void offer(AuditEvent event, long sequence) {
        boolean hasRoom = !event.kind().isLimited() || queue.remainingCapacity() > RESERVED;
        if (closing) {
            lost.labels(sink.name(), "stopped").inc();
        } else if (!hasRoom || !queue.offer(new Entry(event, sequence))) {
            lost.labels(sink.name(), "full").inc();
        }
    }

    String name() {
        return sink.name();
    }

    /** Returns whether the destination takes no events now. */
    boolean isFailing() {
        long since = busySinceNanos;
        return failing || (since != 0 && System.nanoTime() - since > STUCK_NANOS);
    }

    private void run() {
        Entry entry = null;
        try {
            while (!closing || entry != null || !queue.isEmpty()) {
                if (entry == null) {
                    entry = queue.poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
                }
                if (tried(entry)) {
                    entry = null;
                } else {
                    Thread.sleep(TICK_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            // The stop interrupts a destination that does not take the rest in time.
        } finally {
            int left = queue.size() + (entry == null ? 0 : 1);
            if (left > 0) {
                lost.labels(sink.name(), "stopped").inc(left);
                LOG.warn("audit: {} events were left for {} at the stop, and are lost", left,
                        sink.name());
            }
            sink.close();
        }
    }

    /** Returns whether the event was written, or, without one, the tick done. */
    private boolean tried(@Nullable Entry entry) {
        busySinceNanos = System.nanoTime() | 1;
        try {
            if (entry != null) {
                sink.write(entry.event, format.of(entry.event, entry.sequence));
            }
            if (entry == null || queue.isEmpty()) {
                sink.tick();
            }
            works();
            return true;
        } catch (IOException | RuntimeException | Error e) {
            // Also an Error: the thread must live, and the event is tried again.
            fails(e);
            return false;
        } finally {
            busySinceNanos = 0;
        }
    }

    private void works() {
        if (failing) {
            failing = false;
            LOG.info("audit: {} takes events again", sink.name());
        }
        failingGauge.set(0);
    }

    private void fails(Throwable cause) {
        failingGauge.set(1);
        if (!failing) {
            failing = true;
            LOG.warn("audit: {} takes no events: {}", sink.name(), cause.toString());
        }
    }

    /** Writes the queued events, at most for the time allowed, and closes. Blocks. */
    @Override
    public void close() {
        closing = true;
        try {
            if (!thread.join(closeTime)) {
                thread.interrupt();
                sink.close();
                thread.join(Duration.ofSeconds(1));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
