package io.railhead.protocol.channel;

import io.railhead.protocol.message.MessageException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The headers in a record: "name: value\n" each, names in lower case and unique. */
final class HeaderLines {
    private static final String NAME_SYMBOLS = "!#$%&'*+-.^_`|~";

    private HeaderLines() {}

    static String format(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return "";
        }
        StringBuilder lines = new StringBuilder();
        headers.forEach(
                (name, value) -> lines.append(name).append(": ").append(value).append('\n'));
        return lines.toString();
    }

    static Map<String, String> parse(String lines) throws MessageException {
        if (lines.isEmpty()) {
            return Map.of();
        }
        Map<String, String> headers = new LinkedHashMap<>();
        int at = 0;
        while (at < lines.length()) {
            int colon = lines.indexOf(": ", at);
            int end = lines.indexOf('\n', at);
            if (colon < 0 || end < colon) {
                throw new MessageException("a header must be \"name: value\\n\"");
            }
            String name = lines.substring(at, colon);
            String value = lines.substring(colon + 2, end);
            if (!isName(name) || !isValue(value)) {
                throw new MessageException("a header's name must be a lower-case token"
                        + " and its value have no control characters");
            }
            if (headers.put(name, value) != null) {
                throw new MessageException("a header must be there once: " + name);
            }
            at = end + 1;
        }
        return Collections.unmodifiableMap(headers);
    }

    /** Throws if the headers are not valid. */
    static Map<String, String> requireValid(Map<String, String> headers) {
        if (headers.isEmpty()) {
            // Most answers of hits have no headers, so nothing is allocated.
            return Map.of();
        }
        headers.forEach((name, value) -> {
            if (!isName(name) || !isValue(value)) {
                throw new IllegalArgumentException("header cannot be sent: " + name);
            }
        });
        return Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    private static boolean isName(String name) {
        return !name.isEmpty() && name.chars().allMatch(HeaderLines::isNameCharacter);
    }

    private static boolean isNameCharacter(int c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || NAME_SYMBOLS.indexOf(c) >= 0;
    }

    static boolean isValue(String value) {
        return value.chars().allMatch(c -> (c >= ' ' && c != 0x7f) || c == '\t');
    }
}
