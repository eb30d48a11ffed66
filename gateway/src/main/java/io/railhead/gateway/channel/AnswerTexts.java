package io.railhead.gateway.channel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.backend.Headers;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * Converts stores' responses to the fields of a response record. In a header's value each character
 * is one byte in an unknown encoding; records hold text.
 */
final class AnswerTexts {
    private static final Pattern BLANKS_AROUND = Pattern.compile("^[ \\t]+|[ \\t]+$");
    private static final XMLInputFactory XML = factory();
    /**
     * Headers that concern one HTTP message only, or that have a field of their own in the record.
     */
    private static final Set<String> LEFT_OUT = Set.of("connection", "keep-alive",
            "transfer-encoding", "server", "date", "trailer", "upgrade", "te", "proxy-connection",
            "content-length", "content-range", "accept-ranges", "x-amz-request-id", "x-amz-id-2",
            "etag", "last-modified", "x-amz-version-id");

    private AnswerTexts() {}

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        return factory;
    }

    /** Returns milliseconds since the epoch; 0 if the date is missing or unreadable. */
    static long lastModifiedMillis(@Nullable String httpDate) {
        if (httpDate == null) {
            return 0;
        }
        try {
            return Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(httpDate))
                    .toEpochMilli();
        } catch (DateTimeException e) {
            return 0;
        }
    }

    /** Returns the headers that a record can carry, with names in lower case. */
    static Map<String, String> headers(Headers answer) {
        Map<String, String> kept = new LinkedHashMap<>();
        answer.forEach((name, value) -> keep(kept, name, value));
        return kept;
    }

    /** Converts a record's text to a header's value, without surrounding blanks. */
    static String asHeader(String text) {
        return new String(BLANKS_AROUND.matcher(text).replaceAll("").getBytes(UTF_8), ISO_8859_1);
    }

    /** Converts a header's value to text; bytes that are not UTF-8 stay single characters. */
    private static String asText(String value) {
        try {
            return UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(value.getBytes(ISO_8859_1)))
                    .toString();
        } catch (CharacterCodingException e) {
            return value;
        }
    }

    static void keep(Map<String, String> kept, String name, String header) {
        String lower = name.toLowerCase(Locale.ROOT);
        String value = asText(header);
        if (!LEFT_OUT.contains(lower) && isSendable(value)) {
            kept.merge(lower, value, (first, next) -> first + "," + next);
        }
    }

    private static boolean isSendable(String value) {
        return value.chars().allMatch(c -> (c >= ' ' && c != 0x7f) || c == '\t');
    }

    /** A store's refusal: its error code and message. */
    record Refusal(String code, String message) {}

    /** Parses a store's error document. Without a readable code, the status decides the code. */
    static Refusal refusal(int status, byte[] document) {
        String code = "";
        String message = "";
        try {
            XMLStreamReader reader = XML.createXMLStreamReader(new ByteArrayInputStream(document));
            while (reader.hasNext()) {
                if (reader.next() == XMLStreamConstants.START_ELEMENT) {
                    switch (reader.getLocalName()) {
                        case "Code" -> code = reader.getElementText();
                        case "Message" -> message = reader.getElementText();
                        default -> {
                            // Other elements are of no use to a peer.
                        }
                    }
                }
            }
        } catch (XMLStreamException e) {
            // Some stores send a refusal without a document.
            return new Refusal(code.isEmpty() ? meaning(status) : code, message);
        }
        return new Refusal(code.isEmpty() ? meaning(status) : code, message);
    }

    private static String meaning(int status) {
        return switch (status) {
            case 400 -> "BadRequest";
            case 401, 403 -> "AccessDenied";
            case 404 -> "NoSuchKey";
            case 409 -> "ConditionalRequestConflict";
            case 412 -> "PreconditionFailed";
            case 416 -> "InvalidRange";
            // Not SlowDown, which is a store's own answer: a proxy sends 503 for a broken
            // connection.
            case 503 -> "ServiceUnavailable";
            default -> status >= 500 ? "InternalError" : "InvalidRequest";
        };
    }
}
