package io.railhead.gateway.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import io.railhead.gateway.config.GatewayConfig;
import java.util.Iterator;
import net.logstash.logback.encoder.LogstashEncoder;
import org.slf4j.LoggerFactory;

/** The process's own log, as configured. For the start of a gateway's process. */
public final class ApplicationLog {
    private static final String OURS = "io.railhead";

    private ApplicationLog() {}

    public static void configure(GatewayConfig.Log settings) {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.addTurboFilter(started(new RepeatedLines(System::nanoTime)));
        level(settings.level());
        RecentLines.keep(context);
        if (settings.json()) {
            Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
            for (Iterator<Appender<ILoggingEvent>> it = root.iteratorForAppenders(); it
                    .hasNext();) {
                if (it.next() instanceof OutputStreamAppender<ILoggingEvent> stream) {
                    stream.setEncoder(jsonEncoder(context));
                }
            }
        }
    }

    private static TurboFilter started(TurboFilter filter) {
        filter.start();
        return filter;
    }

    /** Sets the level. */
    public static void level(org.slf4j.event.Level level) {
        ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger(OURS)
                .setLevel(Level.convertAnSLF4JLevel(level));
    }

    /** Returns an encoder of one JSON object a line, with a request's properties as fields. */
    static Encoder<ILoggingEvent> jsonEncoder(LoggerContext context) {
        LogstashEncoder encoder = new LogstashEncoder();
        encoder.setContext(context);
        encoder.setVersion(null);
        encoder.start();
        return encoder;
    }
}
