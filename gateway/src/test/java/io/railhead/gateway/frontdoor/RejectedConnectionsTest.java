package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.prometheus.client.Counter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Connections above the limit of open files: each is counted, and an operator reads why. */
class RejectedConnectionsTest {
    private final Logger log = (Logger) LoggerFactory.getLogger(RejectedConnections.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Counter closed = Counter.build("closed", "closed").labelNames("reason").create();
    private final @Nullable Level level = log.getLevel();
    private long now = 7;

    @BeforeEach
    void listen() {
        log.setLevel(Level.WARN);
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void stop() {
        log.detachAppender(lines);
        log.setLevel(level);
    }

    @Test
    void eachIsCountedAndOneAMinuteIsLoggedWithItsMend() {
        RejectedConnections rejected = new RejectedConnections(closed, () -> now);
        for (int i = 0; i < 300; i++) {
            rejected.accept("connections");
        }
        assertThat(closed.labels("connections").get()).isEqualTo(300);
        assertThat(lines.list).singleElement()
                .asString()
                .contains("ulimit -n", "LimitNOFILE", "gateway.admission.connections");
        now += Duration.ofMinutes(1).toNanos();
        rejected.accept("room");
        assertThat(lines.list).hasSize(2);
    }
}
