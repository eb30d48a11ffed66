package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.ZoneOffset.UTC;

import io.railhead.protocol.message.SigningKey;
import java.net.URLEncoder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A request signed step by step, from the documents and not from the code under test, so that a
 * test can sign what no client's signer would: {@code AK}'s, in us-east-1.
 */
public final class HandSigned {
    private static final DateTimeFormatter AMZ = DateTimeFormatter
            .ofPattern("uuuuMMdd'T'HHmmss'Z'")
            .withZone(UTC);
    private static final String EMPTY = sha256("");

    private final String method;
    private final String path;
    private final String query;
    private final List<String[]> headers = new ArrayList<>();
    private Instant at = Instant.now();
    private String payload = EMPTY;
    private String previous = "";

    /** @param query in canonical order and spelling; "" for none */
    public HandSigned(String method, String path, String query) {
        this.method = method;
        this.path = path;
        this.query = query;
        headers.add(new String[]{"host", "h"});
    }

    /** Another than {@code h}. */
    public HandSigned host(String host) {
        headers.set(0, new String[]{"host", host});
        return this;
    }

    public HandSigned at(Instant when) {
        at = when;
        return this;
    }

    /** What {@code x-amz-content-sha256} says. */
    public HandSigned payload(String newPayload) {
        payload = newPayload;
        return this;
    }

    /** The payload's hash is the body's, and its length is said. */
    public HandSigned body(String body) {
        return payload(sha256(body)).header("content-length", String.valueOf(body.length()));
    }

    /** One more, signed; in lower case. */
    public HandSigned header(String name, String value) {
        headers.add(new String[]{name, value});
        return this;
    }

    String date() {
        return AMZ.format(at);
    }

    /** The whole head, signed by header. */
    public String head() {
        header("x-amz-content-sha256", payload).header("x-amz-date", date());
        StringBuilder head = new StringBuilder(
                method + ' ' + path + (query.isEmpty() ? "" : "?" + query) + " HTTP/1.1\r\n");
        headers.forEach(header -> head.append(header[0])
                .append(": ")
                .append(header[1])
                .append("\r\n"));
        previous = sign(canonical(query, payload));
        return head + "authorization: " + authorization(previous) + "\r\n\r\n";
    }

    private String authorization(String signature) {
        return "AWS4-HMAC-SHA256 Credential=AK/" + scope() + ", SignedHeaders=" + names()
                + ", Signature=" + signature;
    }

    /** The whole head, signed by query; {@code expires} as given, however odd. */
    public String presigned(String expires) {
        String signed = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="
                + URLEncoder.encode("AK/" + scope(), UTF_8) + "&X-Amz-Date=" + date()
                + "&X-Amz-Expires=" + expires + "&X-Amz-SignedHeaders=host";
        return method + ' ' + path + '?' + signed + "&X-Amz-Signature="
                + sign(canonical(signed, "UNSIGNED-PAYLOAD")) + " HTTP/1.1\r\nhost: h\r\n\r\n";
    }

    /** After {@link #head}: one aws-chunk, whose signature the next continues. */
    public String chunk(String data) {
        previous = chain("AWS4-HMAC-SHA256-PAYLOAD", EMPTY + '\n' + sha256(data));
        return Integer.toHexString(data.length()) + ";chunk-signature=" + previous + "\r\n" + data
                + (data.isEmpty() ? "" : "\r\n");
    }

    /** After the last chunk: the trailer's lines, signed, and the end. */
    public String trailer(String lines) {
        previous = chain("AWS4-HMAC-SHA256-TRAILER", sha256(lines.replace("\r\n", "\n")));
        return lines + "x-amz-trailer-signature:" + previous + "\r\n\r\n";
    }

    private String chain(String algorithm, String hashes) {
        return hex(key().sign(String.join("\n", algorithm, date(), scope(), previous, hashes)));
    }

    private String canonical(String canonicalQuery, String payloadHash) {
        StringBuilder canonical = new StringBuilder(
                method + '\n' + path + '\n' + canonicalQuery + '\n');
        signed().forEach((name, value) -> canonical.append(name)
                .append(':')
                .append(value)
                .append('\n'));
        return canonical + "\n" + names() + '\n' + payloadHash;
    }

    private Map<String, String> signed() {
        Map<String, String> all = new TreeMap<>();
        headers.forEach(header -> all.merge(header[0].toLowerCase(Locale.ROOT), header[1].strip(),
                (a, b) -> a + ',' + b));
        return all;
    }

    private String names() {
        return String.join(";", signed().keySet());
    }

    private String scope() {
        return date().substring(0, 8) + "/us-east-1/s3/aws4_request";
    }

    private String sign(String canonical) {
        return hex(key().sign(String.join("\n", "AWS4-HMAC-SHA256", date(), scope(),
                sha256(canonical))));
    }

    private SigningKey key() {
        return SigningKey.derive("SK", date().substring(0, 8), "us-east-1", "s3");
    }

    static String sha256(String text) {
        try {
            return hex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(ISO_8859_1)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
