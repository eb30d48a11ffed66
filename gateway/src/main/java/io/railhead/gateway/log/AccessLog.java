package io.railhead.gateway.log;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeAndTimeBasedRollingPolicy;
import ch.qos.logback.core.util.FileSize;
import io.prometheus.client.Counter;
import io.railhead.gateway.config.GatewayConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The access log: a line for each response, written by a thread of its own, so that requests never
 * wait. If lines come faster than they are written, or the disk is full, some are lost and counted.
 * Any thread.
 */
public final class AccessLog implements AutoCloseable {
    /**
     * The time to write queued lines at the close: a slow disk takes longer than the default
     * second.
     */
    private static final int FLUSH_MILLIS = 20_000;
    private static final int QUEUED_LINES = 8192;

    private final @Nullable Logger logger;
    private final AsyncAppender queue;
    private final Counter lost;

    private AccessLog(@Nullable Logger logger, AsyncAppender queue, Counter lost) {
        this.logger = logger;
        this.queue = queue;
        this.lost = lost;
    }

    /** Returns a log that writes nothing. */
    public static AccessLog off(Counter lost) {
        return new AccessLog(null, new AsyncAppender(), lost);
    }

    /**
     * Opens the configured log; off if there is none. Throws {@link IllegalArgumentException} if
     * the file cannot be written.
     */
    public static AccessLog open(GatewayConfig.Log log, Counter lost) {
        GatewayConfig.AccessFile settings = log.access();
        if (settings == null) {
            return off(lost);
        }
        // A separate context, which other log levels do not affect.
        LoggerContext context = new LoggerContext();
        context.setMDCAdapter(new LogbackMDCAdapter());
        context.start();
        OutputStreamAppender<ILoggingEvent> to = settings.path() == null
                ? new ConsoleAppender<>()
                : rolling(context, settings.path(), settings, lost);
        to.setContext(context);
        // Standard output has one format for all logs.
        to.setEncoder(settings.path() == null && log.json()
                ? ApplicationLog.jsonEncoder(context)
                : plainEncoder(context));
        to.start();
        AsyncAppender queue = new AsyncAppender();
        queue.setContext(context);
        queue.setQueueSize(QUEUED_LINES);
        queue.setDiscardingThreshold(0);
        queue.setNeverBlock(true);
        queue.setMaxFlushTime(FLUSH_MILLIS);
        queue.addAppender(to);
        queue.start();
        Logger logger = context.getLogger("access");
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
        logger.addAppender(queue);
        return new AccessLog(logger, queue, lost);
    }

    private static Encoder<ILoggingEvent> plainEncoder(LoggerContext context) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%msg%n");
        encoder.start();
        return encoder;
    }

    private static RollingFileAppender<ILoggingEvent> rolling(LoggerContext context, Path path,
            GatewayConfig.AccessFile settings, Counter lost) {
        requireWritable(path);
        RollingFileAppender<ILoggingEvent> file = new CountedFile(lost);
        file.setContext(context);
        file.setFile(path.toString());
        SizeAndTimeBasedRollingPolicy<ILoggingEvent> policy = new SizeAndTimeBasedRollingPolicy<>();
        policy.setContext(context);
        policy.setParent(file);
        policy.setFileNamePattern(path + ".%d{yyyy-MM-dd}.%i.gz");
        policy.setMaxFileSize(new FileSize(settings.roll().bytes()));
        policy.setMaxHistory(settings.keepDays());
        policy.start();
        file.setRollingPolicy(policy);
        return file;
    }

    /** Throws as a start would for an unwritable file, and creates nothing. */
    public static void requireWritable(GatewayConfig.@Nullable AccessFile settings) {
        Path path = settings == null ? null : settings.path();
        Path folder = path == null ? null : path.getParent();
        if (folder != null && !Files.isWritable(Files.exists(path) ? path : folder)) {
            throw new IllegalArgumentException(
                    "log.access.file: may not be written by this user: " + path);
        }
    }

    private static void requireWritable(Path path) {
        try {
            Files.newOutputStream(path, StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND).close();
        } catch (IOException e) {
            throw new IllegalArgumentException("log.access.file: cannot be written: " + e, e);
        }
    }

    public boolean isOn() {
        return logger != null;
    }

    void write(AccessLine line) {
        if (logger == null) {
            return;
        }
        if (queue.getRemainingCapacity() == 0) {
            lost.inc();
        } else {
            logger.info(line.toString());
        }
    }

    /** Writes the queued lines and closes. */
    @Override
    public void close() {
        if (logger != null) {
            logger.getLoggerContext().stop();
        }
    }
}
