package io.railhead.benchmarks.peers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.protocol.message.SigningKey;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Signs requests without a payload by header SigV4 and writes them out as HTTP/1.1. A general
 * signer's own time would count as the client's; one kind of request over and over is
 * {@link TokenRequest}'s.
 *
 * @param host with its port
 * @param date as {@code x-amz-date} has it
 */
record SigV4(String accessKey, String secretKey, String host, String date) {
    private static final String REGION = "us-east-1";
    private static final DateTimeFormatter DATE = DateTimeFormatter
            .ofPattern("yyyyMMdd'T'HHmmss'Z'")
            .withZone(ZoneOffset.UTC);

    static SigV4 now(String accessKey, String secretKey, String host) {
        return at(Instant.now(), accessKey, secretKey, host);
    }

    static SigV4 at(Instant now, String accessKey, String secretKey, String host) {
        return new SigV4(accessKey, secretKey, host, DATE.format(now));
    }

    /**
     * A request and what its signature was made of.
     *
     * @param head up to and with the empty line
     * @param signature 64 hex digits
     */
    record Signed(String head, String canonical, String stringToSign, String signature) {

        byte[] bytes() {
            return head.getBytes(ISO_8859_1);
        }
    }

    /**
     * @param path percent-encoded
     * @param query percent-encoded, sorted, {@code name=value} joined by {@code &}; may be empty
     * @param more headers that are signed too, names in lower case
     */
    Signed sign(String method, String path, String query, Map<String, String> more) {
        SortedMap<String, String> headers = new TreeMap<>(more);
        headers.put("host", host);
        headers.put("x-amz-date", date);
        headers.put("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        String names = String.join(";", headers.keySet());
        String canonical = method + "\n" + path + "\n" + query + "\n" + lines(headers, ":", "\n")
                + "\n" + names + "\nUNSIGNED-PAYLOAD";
        String stringToSign = "AWS4-HMAC-SHA256\n" + date + "\n" + scope() + "\n"
                + HexFormat.of().formatHex(sha256().digest(canonical.getBytes(UTF_8)));
        String signature = HexFormat.of()
                .formatHex(signingKey().sign(stringToSign));
        String head = method + " " + path + (query.isEmpty() ? "" : "?" + query) + " HTTP/1.1\r\n"
                + lines(headers, ": ", "\r\n")
                + "authorization: AWS4-HMAC-SHA256 Credential=" + accessKey + "/" + scope()
                + ", SignedHeaders=" + names + ", Signature=" + signature + "\r\n\r\n";
        return new Signed(head, canonical, stringToSign, signature);
    }

    private static String lines(Map<String, String> headers, String between, String end) {
        return headers.entrySet()
                .stream()
                .map(header -> header.getKey() + between + header.getValue() + end)
                .collect(Collectors.joining());
    }

    private String scope() {
        return date.substring(0, 8) + "/" + REGION + "/s3/aws4_request";
    }

    SigningKey signingKey() {
        return SigningKey.derive(secretKey, date.substring(0, 8), REGION, "s3");
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
