package io.railhead.gateway.admin;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Log levels that change while the gateway runs, for a time or until its end. */
final class LogLevels {
    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(LogLevels.class);
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.$]{0,199}");
    private static final String INHERIT = "INHERIT";
    private static final Set<Level> LEVELS = Set.of(Level.OFF, Level.ERROR, Level.WARN,
            Level.INFO, Level.DEBUG, Level.TRACE);
    private static final long LONGEST_SECONDS = TimeUnit.DAYS.toSeconds(1);

    private final Vertx vertx;
    private final InstantSource clock;
    private final Map<String, Limited> limited = new HashMap<>();

    LogLevels(Vertx vertx, InstantSource clock) {
        this.vertx = vertx;
        this.clock = clock;
    }

    /**
     * A level with a time limit.
     *
     * @param before the level to restore; null for the parent's
     */
    private record Limited(@Nullable Level before, long timer, String until) {}

    /** Sets the level of {@code logger} if one is named; returns all levels that are set. */
    synchronized JsonObject call(AdminCall.Asked asked) {
        String name = asked.body().text("logger");
        String level = asked.body().text("level");
        long seconds = asked.body().number("for_seconds", 1, LONGEST_SECONDS, 0);
        asked.body().close();
        LoggerContext context = context();
        if (name != null && level != null) {
            set(logger(context, name), level(name, level), seconds);
        } else if (level != null || seconds > 0) {
            throw CallBody.refusal("Name a logger and a level.");
        } else if (name != null) {
            return JsonObject.of("logger", name, "level",
                    logger(context, name).getEffectiveLevel().toString());
        }
        return all(context);
    }

    private static LoggerContext context() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            return context;
        }
        throw new S3Refusal(S3Error.NOT_IMPLEMENTED, "The gateway does not log by logback.");
    }

    private static Logger logger(LoggerContext context, String name) {
        if (!NAME.matcher(name).matches()) {
            throw CallBody.refusal("logger must be a class, a package or ROOT.");
        }
        return context.getLogger(name);
    }

    private static @Nullable Level level(String logger, String name) {
        Level level = name.equals(INHERIT) ? null : Level.toLevel(name, null);
        boolean known = name.equals(INHERIT)
                ? !logger.equals(Logger.ROOT_LOGGER_NAME)
                : level != null && LEVELS.contains(level) && level.toString().equals(name);
        if (!known) {
            throw CallBody.refusal("level must be OFF, ERROR, WARN, INFO, DEBUG, TRACE, or, but for"
                    + " ROOT, INHERIT.");
        }
        return level;
    }

    private void set(Logger logger, @Nullable Level level, long seconds) {
        Limited earlier = limited.remove(logger.getName());
        if (earlier != null) {
            vertx.cancelTimer(earlier.timer());
        }
        if (seconds > 0) {
            long timer = vertx.setTimer(TimeUnit.SECONDS.toMillis(seconds),
                    own -> fallBack(logger, own));
            limited.put(logger.getName(),
                    new Limited(earlier == null ? logger.getLevel() : earlier.before(), timer,
                            clock.instant().plusSeconds(seconds).toString()));
        }
        logger.setLevel(level);
    }

    private synchronized void fallBack(Logger logger, long timer) {
        Limited ending = limited.get(logger.getName());
        if (ending != null && ending.timer() == timer) {
            limited.remove(logger.getName());
            logger.setLevel(ending.before());
            LOG.info("the log level of {} is again {}", logger.getName(),
                    logger.getEffectiveLevel());
        }
    }

    private JsonObject all(LoggerContext context) {
        JsonArray loggers = new JsonArray();
        for (Logger logger : context.getLoggerList()) {
            Limited ending = limited.get(logger.getName());
            if (logger.getLevel() != null || ending != null) {
                JsonObject shown = JsonObject.of("logger", logger.getName(), "level",
                        logger.getEffectiveLevel().toString());
                loggers.add(ending == null ? shown : shown.put("until", ending.until()));
            }
        }
        return JsonObject.of("loggers", loggers);
    }
}
