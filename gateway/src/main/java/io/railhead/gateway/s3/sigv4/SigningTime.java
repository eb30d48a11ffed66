package io.railhead.gateway.s3.sigv4;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** SigV4's format of a time: {@code yyyyMMdd'T'HHmmss'Z'}. */
public final class SigningTime {
    static final int LENGTH = 16;

    private static final DateTimeFormatter HTTP = DateTimeFormatter.RFC_1123_DATE_TIME;

    private SigningTime() {}

    /** Parses a time; null if it is malformed or before 1970. */
    static @Nullable Instant parse(String text) {
        if (text.length() != LENGTH || text.charAt(8) != 'T' || text.charAt(15) != 'Z') {
            return null;
        }
        try {
            return sinceEpoch(LocalDateTime.of(number(text, 0, 4), number(text, 4, 6),
                    number(text, 6, 8), number(text, 9, 11), number(text, 11, 13),
                    number(text, 13, 15)).toInstant(ZoneOffset.UTC));
        } catch (DateTimeException e) {
            return null;
        }
    }

    /**
     * Parses HTTP's {@code Date} header; null if it is malformed or before 1970. The day of the
     * week is ignored.
     */
    static @Nullable Instant parseHttp(String text) {
        try {
            int comma = text.indexOf(',');
            return sinceEpoch(ZonedDateTime.parse(text.substring(comma + 1).strip(), HTTP)
                    .toInstant());
        } catch (DateTimeException e) {
            return null;
        }
    }

    public static String format(Instant instant) {
        LocalDateTime time = LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
        StringBuilder text = new StringBuilder(LENGTH);
        append(text, time.getYear() / 100);
        append(text, time.getYear() % 100);
        append(text, time.getMonthValue());
        append(text, time.getDayOfMonth());
        text.append('T');
        append(text, time.getHour());
        append(text, time.getMinute());
        append(text, time.getSecond());
        return text.append('Z').toString();
    }

    private static void append(StringBuilder text, int twoDigits) {
        text.append((char) ('0' + twoDigits / 10)).append((char) ('0' + twoDigits % 10));
    }

    private static @Nullable Instant sinceEpoch(Instant instant) {
        return instant.getEpochSecond() < 0 ? null : instant;
    }

    private static int number(String text, int from, int to) {
        int value = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                throw new DateTimeException("not a digit");
            }
            value = value * 10 + digit;
        }
        return value;
    }
}
