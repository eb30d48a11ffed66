package io.railhead.gateway.log;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last lines of the application's log, kept in memory for a support bundle. Of an exception the
 * kind and message are kept, without the stack.
 */
public final class RecentLines extends AppenderBase<ILoggingEvent> {
    private static final String NAME = "recent";
    private static final int MOST_LINES = 1000;
    private static final int MOST_CHARS = 1000;

    /** Guarded by its monitor. */
    private final Deque<String> lines = new ArrayDeque<>();

    RecentLines() {
        setName(NAME);
    }

    /** Starts keeping the lines of all loggers. */
    static void keep(LoggerContext context) {
        RecentLines recent = new RecentLines();
        recent.setContext(context);
        recent.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(recent);
    }

    /** Returns the lines, oldest first; none unless the process keeps them. */
    public static List<String> read() {
        return LoggerFactory.getILoggerFactory() instanceof LoggerContext context
                && context.getLogger(Logger.ROOT_LOGGER_NAME)
                        .getAppender(NAME) instanceof RecentLines recent
                                ? recent.copy()
                                : List.of();
    }

    List<String> copy() {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    @Override
    protected void append(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        String line = event.getInstant() + " " + event.getLevel() + " " + event.getLoggerName()
                + ": " + event.getFormattedMessage()
                + (thrown == null
                        ? ""
                        : " [" + thrown.getClassName() + ": " + thrown.getMessage() + "]");
        String shown = line.substring(0, Math.min(line.length(), MOST_CHARS));
        synchronized (lines) {
            lines.addLast(shown);
            if (lines.size() > MOST_LINES) {
                lines.removeFirst();
            }
        }
    }
}
