package io.railhead.gateway.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.MarkerFactory;

/**
 * Suppresses repeated warnings and errors. For one logger and text, a limited number of lines is
 * written each minute, and one line counts the suppressed ones. Lines of libraries are included.
 * Any thread, no lock: errors come in storms.
 */
public final class RepeatedLines extends TurboFilter {
    static final int LINES = 10;
    static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** The most distinct texts; further ones share one window. */
    private static final int TEXTS = 500;
    private static final String OTHERS = "";
    /** Marks this class's own lines, which are never suppressed. */
    private static final Marker OWN = MarkerFactory.getMarker("left-out");

    private final LongSupplier nanoClock;
    private final Map<String, Window> windows = new ConcurrentHashMap<>();
    private final AtomicLong nextLookNanos;

    /** Counts the lines of one text since the window opened. */
    private record Window(Logger logger, Level level, String text, long openedNanos,
            AtomicLong lines) {
        long leftOut() {
            return Math.max(0, lines.get() - LINES);
        }

        void tellLeftOut() {
            if (leftOut() > 0) {
                String line = "{} more lines like this were left out: {}";
                if (level.isGreaterOrEqual(Level.ERROR)) {
                    logger.error(OWN, line, leftOut(), text);
                } else {
                    logger.warn(OWN, line, leftOut(), text);
                }
            }
        }
    }

    RepeatedLines(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.nextLookNanos = new AtomicLong(nanoClock.getAsLong() + WINDOW_NANOS);
    }

    @Override
    public FilterReply decide(@Nullable Marker marker, Logger logger, Level level,
            @Nullable String text, Object @Nullable [] parameters, @Nullable Throwable thrown) {
        if (text == null || OWN.equals(marker) || !level.isGreaterOrEqual(Level.WARN)
                || !level.isGreaterOrEqual(logger.getEffectiveLevel())) {
            return FilterReply.NEUTRAL;
        }
        long now = nanoClock.getAsLong();
        tellClosed(now);
        String key = key(logger, text, parameters, thrown);
        Window window = windows.computeIfAbsent(windows.size() < TEXTS ? key : OTHERS,
                _ -> new Window(logger, level, text, now, new AtomicLong()));
        return window.lines.incrementAndGet() <= LINES ? FilterReply.NEUTRAL : FilterReply.DENY;
    }

    /**
     * Returns the window's key. A text that begins with a name includes that name, so that one
     * endpoint's lines suppress no other's.
     */
    private static String key(Logger logger, String text, Object @Nullable [] parameters,
            @Nullable Throwable thrown) {
        String name = text.startsWith("{}") && parameters != null && parameters.length > 0
                ? String.valueOf(parameters[0])
                : "";
        String kind = thrown == null ? "" : thrown.getClass().getName();
        return logger.getName() + '\n' + text + '\n' + name + '\n' + kind;
    }

    /** Writes the counts of closed windows; one thread at a time does. */
    private void tellClosed(long now) {
        long due = nextLookNanos.get();
        if (now - due < 0 || !nextLookNanos.compareAndSet(due, now + WINDOW_NANOS / 4)) {
            return;
        }
        windows.forEach((key, window) -> {
            if (now - window.openedNanos >= WINDOW_NANOS && windows.remove(key, window)) {
                window.tellLeftOut();
            }
        });
    }
}
