package io.railhead.gateway.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The Date header (IMF-fixdate, RFC 9110 §5.6.7). SDKs mend their clocks by it. */
final class HttpDate {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter
            .ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
            .withZone(ZoneOffset.UTC);

    private HttpDate() {}

    static String now() {
        return FORMAT.format(Instant.now());
    }
}
