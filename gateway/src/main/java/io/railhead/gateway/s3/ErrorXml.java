package io.railhead.gateway.s3;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** S3's error document. */
public final class ErrorXml {
    /** The replacement of characters that XML cannot carry. */
    private static final char REPLACEMENT = '\uFFFD';

    private static final int MAX_BEGINNING_BYTES = 1024;

    private ErrorXml() {}

    /**
     * Renders the document of one refusal.
     *
     * @param resource the path as the client sent it
     */
    public static String render(S3Refusal error, String resource, String requestId,
            String hostId) {
        StringBuilder xml = new StringBuilder(256);
        xml.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>");
        element(xml, "Code", error.error().code());
        element(xml, "Message", error.detail());
        element(xml, "Resource", resource);
        element(xml, "RequestId", requestId);
        element(xml, "HostId", hostId);
        return xml.append("</Error>").toString();
    }

    /** Returns the code in a document's first bytes; "" if there is none. */
    public static String code(ByteBuffer beginning) {
        byte[] bytes = new byte[Math.min(beginning.remaining(), MAX_BEGINNING_BYTES)];
        beginning.get(bytes);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int from = text.indexOf("<Code>") + 6;
        int to = text.indexOf("</Code>");
        return from < 6 || to < from ? "" : text.substring(from, to);
    }

    /** Appends one element with this text, escaped. */
    public static void element(StringBuilder xml, String name, String value) {
        xml.append('<').append(name).append('>');
        value.codePoints().forEach(c -> escape(xml, c));
        xml.append("</").append(name).append('>');
    }

    private static void escape(StringBuilder xml, int c) {
        switch (c) {
            case '&' -> xml.append("&amp;");
            case '<' -> xml.append("&lt;");
            case '>' -> xml.append("&gt;");
            case '"' -> xml.append("&quot;");
            case '\'' -> xml.append("&apos;");
            case '\r' -> xml.append("&#13;");
            default -> xml.appendCodePoint(isXml(c) ? c : REPLACEMENT);
        }
    }

    /** Tests for a Char of XML 1.0; an unpaired surrogate arrives here unchanged and is none. */
    private static boolean isXml(int c) {
        return c == '\t' || c == '\n' || (c >= 0x20 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD)
                || c >= 0x10000;
    }
}
