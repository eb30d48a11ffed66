package io.railhead.gateway.log;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One line of the access log: the 26 fields of S3's server access log in order, then the gateway's
 * own as {@code name=value}. S3 permits further fields at the end:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html. Not reusable; one thread.
 */
final class AccessLine {
    private static final DateTimeFormatter TIME = DateTimeFormatter
            .ofPattern("'['dd/MMM/yyyy:HH:mm:ss Z']'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final String HEX = "0123456789ABCDEF";

    private final StringBuilder line = new StringBuilder(512);

    /** Appends a field that cannot hold a blank. */
    AccessLine field(@Nullable String value) {
        separate();
        if (value == null || value.isEmpty()) {
            line.append('-');
        } else {
            append(value, '!');
        }
        return this;
    }

    AccessLine none() {
        return field(null);
    }

    /** Appends a field that S3 puts in quotes. */
    AccessLine quoted(@Nullable String value) {
        separate();
        line.append('"');
        append(value == null || value.isEmpty() ? "-" : value, ' ');
        line.append('"');
        return this;
    }

    AccessLine time(Instant time) {
        separate();
        TIME.formatTo(time, line);
        return this;
    }

    AccessLine number(long value) {
        separate();
        line.append(value);
        return this;
    }

    /** Appends a number of bytes, or a dash for none, as in S3's lines. */
    AccessLine bytes(long count) {
        return count <= 0 ? none() : number(count);
    }

    /** Appends a field of the gateway's own, unless it is empty. */
    AccessLine extra(String name, @Nullable String value) {
        if (value != null && !value.isEmpty()) {
            separate();
            line.append(name).append('=');
            append(value, '!');
        }
        return this;
    }

    private void separate() {
        if (!line.isEmpty()) {
            line.append(' ');
        }
    }

    /** Appends text escaped, so that a client's input can end neither a field nor a line. */
    private void append(String value, char least) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c >= least && c < 0x7F && c != '"') {
                line.append(c);
            } else if (c > 0xFF) {
                line.append('?');
            } else {
                line.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 0xF));
            }
        }
    }

    @Override
    public String toString() {
        return line.toString();
    }
}
