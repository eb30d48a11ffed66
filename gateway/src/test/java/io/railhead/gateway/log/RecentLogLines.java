package io.railhead.gateway.log;

import ch.qos.logback.classic.LoggerContext;
import org.slf4j.LoggerFactory;

/** Keeps recent lines of the log in a test's process, as a gateway's process does. */
public final class RecentLogLines {
    private RecentLogLines() {}

    public static void keep() {
        if (RecentLines.read().isEmpty()) {
            RecentLines.keep((LoggerContext) LoggerFactory.getILoggerFactory());
        }
    }
}
