package io.railhead.gateway.http;

import io.vertx.core.http.HttpHeaders;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * The Date header (IMF-fixdate, RFC 9110 §5.6.7), formatted once a second. SDKs correct their
 * clocks by this header. Any thread.
 */
public final class HttpDate {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter
            .ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
            .withZone(ZoneOffset.UTC);

    private final InstantSource clock;
    private volatile Formatted last = new Formatted(Long.MIN_VALUE, "");

    private record Formatted(long second, CharSequence text) {}

    public HttpDate(InstantSource clock) {
        this.clock = clock;
    }

    /** Returns an instant as headers have it. */
    public static String text(Instant instant) {
        return FORMAT.format(instant);
    }

    public CharSequence now() {
        long second = Math.floorDiv(clock.millis(), 1000L);
        Formatted formatted = last;
        if (formatted.second != second) {
            formatted = new Formatted(second,
                    HttpHeaders.createOptimized(FORMAT.format(Instant.ofEpochSecond(second))));
            last = formatted;
        }
        return formatted.text;
    }
}
