package io.railhead.gateway.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.TestGateway;
import io.railhead.gateway.metrics.Metrics;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AuditWriterTest {
    private final Metrics metrics = new Metrics();
    private final FakeSink sink = new FakeSink();
    private final AuditWriter writer = new AuditWriter(sink, new OcsfLine("g", ""),
            metrics.auditLost, metrics.auditFailing, Duration.ofMillis(200)).start();

    /** A destination that a test turns off. */
    private static final class FakeSink implements AuditSink {
        private final List<String> lines = new CopyOnWriteArrayList<>();
        private volatile boolean fails;

        @Override
        public String name() {
            return "file";
        }

        @Override
        public void write(AuditEvent event, String json) throws IOException {
            tick();
            lines.add(json);
        }

        @Override
        public void tick() throws IOException {
            if (fails) {
                throw new IOException("planted");
            }
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }

    @AfterEach
    void close() {
        writer.close();
    }

    private double lost(String reason) {
        return metrics.auditLost.labels("file", reason).get();
    }

    private void offer(AuditKind kind, int events) {
        for (int i = 0; i < events; i++) {
            writer.offer(AuditEvent.accepted(kind, ""), i);
        }
    }

    @Test
    void whatCannotBeWrittenIsWrittenLaterInOrder() {
        sink.fails = true;
        TestGateway.await(writer::isFailing);
        offer(AuditKind.RELOAD, 5);
        assertThat(metrics.auditFailing.labels("file").get()).isOne();
        sink.fails = false;
        TestGateway.await(() -> sink.lines.size() == 5);
        TestGateway.await(() -> !writer.isFailing());
        assertThat(sink.lines.getFirst()).contains("\"sequence\":0");
        assertThat(sink.lines.getLast()).contains("\"sequence\":4");
        assertThat(lost("full")).isZero();
    }

    @Test
    void aFullQueueLosesAndCountsAndKeepsRoomForTheGatewaysOwnEvents() {
        sink.fails = true;
        TestGateway.await(writer::isFailing);
        offer(AuditKind.LOGIN_REFUSED, AuditWriter.CAPACITY);
        // The thread may have taken one event out of the queue.
        assertThat(lost("full")).isBetween(AuditWriter.RESERVED - 1.0, AuditWriter.RESERVED + 0.0);
        double before = lost("full");
        offer(AuditKind.ADMIN_CALL, AuditWriter.RESERVED - 1);
        assertThat(lost("full")).isEqualTo(before);
    }

    @Test
    void whatIsLeftAtTheStopIsCounted() {
        sink.fails = true;
        TestGateway.await(writer::isFailing);
        offer(AuditKind.RELOAD, 3);
        writer.close();
        assertThat(lost("stopped")).isEqualTo(3);
        offer(AuditKind.RELOAD, 1);
        assertThat(lost("stopped")).isEqualTo(4);
    }
}
