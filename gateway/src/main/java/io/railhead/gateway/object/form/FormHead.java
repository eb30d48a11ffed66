package io.railhead.gateway.object.form;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The fields before the file in the form of an upload by POST (RFC 7578). Each char is one byte. A
 * form that another parser could read differently is refused: the store must see the same key.
 * Immutable.
 *
 * <pre>
 *   --boundary CRLF  Content-Disposition: form-data; name="key" CRLF CRLF  value CRLF   (a part)
 *   --boundary CRLF  Content-Disposition: form-data; name="file"; ... CRLF CRLF         (the last)
 * </pre>
 *
 * @param fileHead the last part's boundary and headers
 * @param fileName "" where the form names none
 * @param length of the whole head, in bytes
 */
record FormHead(String boundary, List<Part> parts, String fileHead, String fileName, int length) {
    private static final String LINE = "\r\n";
    private static final Pattern BOUNDARY = Pattern
            .compile("(?i)multipart/form-data\\s*;.*?boundary=(?:\"([^\"]+)\"|([^;\\s]+)).*");
    private static final Pattern DISPOSITION = Pattern
            .compile("(?i)content-disposition:\\s*form-data\\s*(;.*)");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9-]+:[^\\r\\n]*");
    private static final Pattern NAME = Pattern
            .compile("(?i);\\s*name=(?:\"([^\"]*)\"|([^;\\s]+))");
    /** A name that every parser decodes to itself. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._$-]+");
    /** Extended parameters of RFC 5987, which RFC 7578 §4.2 forbids: not all parsers know them. */
    private static final Pattern EXTENDED = Pattern.compile(";\\s*[A-Za-z]+\\*");
    private static final Pattern FILE_NAME = Pattern
            .compile("(?i);\\s*filename=(?:\"([^\"]*)\"|([^;\\s]+))");

    /**
     * One field.
     *
     * @param name in lower case
     * @param raw from its boundary to the line end behind its value, as it is forwarded
     */
    record Part(String name, String value, String raw) {}

    /** Returns the boundary that a Content-Type names; null if there is none. */
    static @Nullable String boundary(@Nullable String contentType) {
        Matcher matcher = BOUNDARY.matcher(contentType == null ? "" : contentType);
        return matcher.matches() ? either(matcher) : null;
    }

    private static String either(Matcher matcher) {
        String quoted = matcher.group(1);
        return quoted == null ? matcher.group(2) : quoted;
    }

    /**
     * Parses the head. Returns null if the file's part has not begun; throws {@code S3Refusal} on a
     * malformed form.
     */
    static @Nullable FormHead tryRead(String bytes, String boundary) {
        String delimiter = "--" + boundary;
        if (bytes.length() < delimiter.length()) {
            return null;
        }
        if (!bytes.startsWith(delimiter)) {
            throw malformed();
        }
        List<Part> parts = new ArrayList<>();
        int start = 0;
        while (true) {
            int head = start + delimiter.length();
            if (bytes.startsWith("--", head)) {
                throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                        "POST requires exactly one file upload per request.");
            }
            int value = bytes.indexOf(LINE + LINE, head);
            if (value < 0) {
                return null;
            }
            value += 2 * LINE.length();
            String headers = bytes.substring(head, value);
            String disposition = disposition(headers);
            String name = parameter(disposition, NAME);
            String fileName = parameter(disposition, FILE_NAME);
            if (name == null || !PLAIN.matcher(name).matches()
                    || EXTENDED.matcher(disposition).find()) {
                throw malformed();
            }
            if (name.equalsIgnoreCase("file")) {
                return new FormHead(boundary, List.copyOf(parts), bytes.substring(start, value),
                        fileName == null ? "" : text(fileName), value);
            }
            int end = bytes.indexOf(LINE + delimiter, value);
            if (end < 0) {
                return null;
            }
            if (bytes.substring(value, end).contains(delimiter)) {
                throw malformed();
            }
            int next = end + LINE.length();
            // Some clients give each field a file name. Some parsers take such a field for the
            // file, so the field is rewritten.
            String raw = fileName == null
                    ? bytes.substring(start, next)
                    : field(boundary, name, bytes.substring(value, end));
            parts.add(new Part(name.toLowerCase(Locale.ROOT), text(bytes.substring(value, end)),
                    raw));
            start = next;
        }
    }

    private static String field(String boundary, String name, String value) {
        return "--" + boundary + LINE + "Content-Disposition: form-data; name=\"" + name + '"'
                + LINE
                + LINE + value + LINE;
    }

    /** Returns the value of the one Content-Disposition among a part's headers. */
    private static String disposition(String headers) {
        String found = null;
        if (!headers.startsWith(LINE)) {
            throw malformed();
        }
        for (String line : headers.strip().split(LINE, -1)) {
            Matcher disposition = DISPOSITION.matcher(line);
            if (!HEADER.matcher(line).matches() || (disposition.matches() && found != null)) {
                throw malformed();
            }
            found = disposition.matches() ? disposition.group(1) : found;
        }
        if (found == null) {
            throw malformed();
        }
        return found;
    }

    private static @Nullable String parameter(String disposition, Pattern parameter) {
        Matcher matcher = parameter.matcher(disposition);
        if (!matcher.find()) {
            return null;
        }
        String value = either(matcher);
        if (matcher.find()) {
            throw malformed();
        }
        return value;
    }

    /**
     * Decodes a value. Bytes that are not UTF-8 are refused: the store could read another value
     * from them.
     */
    private static String text(String bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw malformed();
        }
    }

    private static S3Refusal malformed() {
        return new S3Refusal(S3Error.MALFORMED_POST_REQUEST);
    }

    /**
     * Returns the fields by name in lower case. Throws {@code S3Refusal} if a name comes twice,
     * since parsers differ in the one that they take.
     */
    Map<String, String> fields() {
        Map<String, String> fields = new HashMap<>();
        for (Part part : parts) {
            if (fields.put(part.name, part.value) != null) {
                throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                        "The form has " + part.name + " twice.");
            }
        }
        return fields;
    }

    /** Writes the same head without some fields, and with others added. */
    byte[] with(Set<String> without, Map<String, String> instead) {
        StringBuilder head = new StringBuilder(length + 1024);
        parts.stream()
                .filter(part -> !without.contains(part.name))
                .forEach(part -> head.append(part.raw));
        instead.forEach((name, value) -> head.append(field(boundary, name, value)));
        return head.append(fileHead).toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Names only: the values include signatures. */
    @Override
    public String toString() {
        return "FormHead" + parts.stream().map(Part::name).toList();
    }
}
