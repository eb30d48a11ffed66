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
 * From what stores say to what an answer's record carries. In a header's value each character is
 * one byte, of whatever text it is; records have texts.
 */
final class AnswerTexts {
    private static final Pattern BLANKS_AROUND = Pattern.compile("^[ \\t]+|[ \\t]+$");
    private static final XMLInputFactory XML = factory();
    /** What speaks of one HTTP message, or has a field of its own in the record. */
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

    /** Since the epoch; 0 where there is none, or none that can be read. */
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

    /** The headers that a record can carry, names in lower case. */
    static Map<String, String> headers(Headers answer) {
        Map<String, String> kept = new LinkedHashMap<>();
        answer.forEach((name, value) -> keep(kept, name, value));
        return kept;
    }

    /** A text of a record as a header's value, which blanks around it are not part of. */
    static String asHeader(String text) {
        return new String(BLANKS_AROUND.matcher(text).replaceAll("").getBytes(UTF_8), ISO_8859_1);
    }

    /** The other way round; bytes that are no UTF-8 stay characters. */
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

    /** A refusal in the store's words. */
    record Refusal(String code, String message) {}

    /** What an error document says; where it says nothing, what the status means. */
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
                            // Of no use to a peer.
                        }
                    }
                }
            }
        } catch (XMLStreamException e) {
            // Not every store sends a document with every refusal.
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
            // Not SlowDown, a store's own word: a proxy says this of a connection that broke.
            case 503 -> "ServiceUnavailable";
            default -> status >= 500 ? "InternalError" : "InvalidRequest";
        };
    }
}
