package io.railhead.gateway.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RepeatedLinesTest {
    private final AtomicLong now = new AtomicLong();
    private final ListAppender<ILoggingEvent> written = new ListAppender<>();
    private final Logger logger = logger();

    private Logger logger() {
        LoggerContext context = new LoggerContext();
        context.setMDCAdapter(new LogbackMDCAdapter());
        RepeatedLines filter = new RepeatedLines(now::get);
        filter.start();
        context.addTurboFilter(filter);
        Logger made = context.getLogger("io.railhead.Something");
        made.setLevel(Level.INFO);
        written.setContext(context);
        written.start();
        made.addAppender(written);
        return made;
    }

    private List<String> lines() {
        return written.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void aConditionThatRepeatsIsWrittenTenTimesAMinuteAndTheRestIsCounted() {
        for (int i = 0; i < 1000; i++) {
            logger.warn("store {} is lost", i);
        }
        assertThat(lines()).hasSize(RepeatedLines.LINES);
        now.addAndGet(RepeatedLines.WINDOW_NANOS);
        logger.warn("store {} is lost", 1000);
        assertThat(lines()).hasSize(RepeatedLines.LINES + 2)
                .endsWith("990 more lines like this were left out: store {} is lost",
                        "store 1000 is lost");
    }

    @Test
    void oneConditionHidesNoOther() {
        for (int i = 0; i < 100; i++) {
            logger.warn("{}: stays as it was", "credentials");
            logger.error("failed", new IllegalStateException());
        }
        logger.warn("{}: stays as it was", "policy");
        logger.error("failed", new IllegalArgumentException());
        assertThat(lines()).hasSize(2 * RepeatedLines.LINES + 2)
                .contains("policy: stays as it was");
    }

    @Test
    void whatIsNoWarningIsAlwaysWritten() {
        for (int i = 0; i < 100; i++) {
            logger.info("admin call {}", i);
        }
        assertThat(lines()).hasSize(100);
    }

    /** A library builds its texts anew each time: they are limited together. */
    @Test
    void aFloodOfDifferentTextsHasAnEnd() {
        for (int i = 0; i < 5000; i++) {
            logger.warn("odd thing " + i);
        }
        assertThat(lines().size()).isBetween(500, 520);
    }
}
