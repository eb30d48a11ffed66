package io.railhead.gateway.audit;

import io.railhead.gateway.config.AuditConfig;
import io.railhead.gateway.identity.KeyOwner;
import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The configured audit stream. Recording: any thread, never blocks; each destination has a queue
 * and a thread of its own, so that one that hangs delays no other.
 */
public final class AuditStream implements Audit, AutoCloseable {
    private static final Duration CLOSE_TIME = Duration.ofSeconds(5);

    private final List<AuditWriter> writers;
    private final boolean required;
    private final Metrics metrics;
    private final Owner owner;
    private final FloodLimit limit = new FloodLimit(System::nanoTime);
    private final AtomicLong sequence = new AtomicLong();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Finds whom a claimed key was made for; null if nobody knows. */
    @FunctionalInterface
    public interface Owner extends Function<Claim, @Nullable KeyOwner> {}

    private AuditStream(List<AuditWriter> writers, boolean required, Metrics metrics, Owner owner) {
        this.writers = List.copyOf(writers);
        this.required = required;
        this.metrics = metrics;
        this.owner = owner;
    }

    /**
     * Opens the destinations. A syslog server that does not answer delays no start.
     *
     * @param gateway the gateway's name
     * @throws IllegalArgumentException if the file cannot be written
     */
    public static AuditStream open(AuditConfig settings, String gateway, Vertx vertx,
            Metrics metrics, Owner owner) {
        OcsfLine format = new OcsfLine(gateway, Metrics.version());
        List<AuditSink> sinks = new ArrayList<>();
        AuditConfig.Output output = settings.output();
        if (output != null) {
            sinks.add(sink(output));
        }
        AuditConfig.Syslog syslog = settings.syslog();
        if (syslog != null) {
            sinks.add(new SyslogTls(syslog, vertx, gateway));
        }
        AuditStream stream = new AuditStream(sinks.stream()
                .map(sink -> new AuditWriter(sink, format, metrics.auditLost, metrics.auditFailing,
                        CLOSE_TIME).start())
                .toList(), settings.required(), metrics, owner);
        Thread.ofVirtual().name("audit-limits").start(stream::sweepUntilClosed);
        stream.record(AuditEvent.accepted(AuditKind.AUDIT_STARTED, "the gateway has started"));
        return stream;
    }

    private static AuditSink sink(AuditConfig.Output output) {
        Path path = output.path();
        if (path == null) {
            return new StandardOutput();
        }
        try {
            return new AuditFile(output, path).open();
        } catch (IOException e) {
            throw new IllegalArgumentException("audit.file: cannot be written: " + e, e);
        }
    }

    /** Throws as a start would for an unusable destination; creates and connects nothing. */
    public static void requireUsable(@Nullable AuditConfig settings, Vertx vertx) {
        AuditConfig.Output output = settings == null ? null : settings.output();
        Path path = output == null ? null : output.path();
        Path folder = path == null ? null : path.getParent();
        if (path != null && folder != null
                && !Files.isWritable(Files.exists(path) ? path : folder)) {
            throw new IllegalArgumentException(
                    "audit.file: may not be written by this user: " + path);
        }
        AuditConfig.Syslog syslog = settings == null ? null : settings.syslog();
        if (syslog != null) {
            try {
                new SyslogTls(syslog, vertx, "").context();
            } catch (IOException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
        }
    }

    @Override
    public boolean isOn() {
        return true;
    }

    @Override
    public void record(AuditEvent event) {
        if (limit.admits(event)) {
            write(named(event));
        } else {
            metrics.auditSuppressed.labels(event.kind().label()).inc();
        }
    }

    /** Returns the event with the owner of the key that its sender named. */
    private AuditEvent named(AuditEvent event) {
        Claim claim = event.claim();
        if (claim == null || !event.actor().principal().isEmpty()) {
            return event;
        }
        KeyOwner known = owner.apply(claim);
        if (known != null) {
            return event.by(known.principal(), known.tenant(), event.actor().address())
                    .as(known.session())
                    .claiming(null);
        }
        return (claim.isOfSession() ? event.adding(": session not opened") : event).claiming(null);
    }

    private void write(AuditEvent event) {
        metrics.auditEvents.labels(event.kind().label()).inc();
        long number = sequence.incrementAndGet();
        writers.forEach(writer -> writer.offer(event, number));
    }

    /** Returns why the gateway must not be ready; "" if it may be. */
    public String reasonNotReady() {
        if (!required) {
            return "";
        }
        String failing = writers.stream()
                .filter(AuditWriter::isFailing)
                .map(AuditWriter::name)
                .collect(Collectors.joining(", "));
        return failing.isEmpty() ? "" : "audit events cannot be written: " + failing;
    }

    private void sweepUntilClosed() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                limit.sweep(false, this::summarise);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void summarise(AuditKind kind, String source, int events) {
        // Limits count by address, or by principal where there is no address; both are in the text.
        String from = source.isEmpty() ? "other senders" : source;
        write(AuditEvent.refused(kind, "Suppressed",
                events + " more events of this kind within a minute were left out, from " + from)
                .by("", "", source.replaceFirst("/.*", "")));
    }

    /** Writes what is queued, and an event of the stop. Blocks. */
    @Override
    public void close() {
        closed.countDown();
        limit.sweep(true, this::summarise);
        record(AuditEvent.accepted(AuditKind.AUDIT_STOPPED, "the gateway stops"));
        writers.forEach(AuditWriter::close);
    }
}
