package io.railhead.gateway;

import io.railhead.backend.testing.ScriptedStore.Line;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One object, whatever key is asked for, with headers such as stores send: GET with one range and
 * If-Match, HEAD.
 */
public final class RandomObject implements Script {
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");
    private static final List<String> POSSIBLE = List.of(
            "Content-Type: application/octet-stream", "Content-Type: text/html; charset=utf-8",
            "Cache-Control: public, max-age=60", "Cache-Control: no-cache",
            "Content-Encoding: gzip", "Content-Language: de, en",
            "Content-Disposition: attachment; filename=\"a b.bin\"",
            "Expires: Thu, 01 Dec 2044 16:00:00 GMT", "x-amz-version-id: 3HL4kqtJlcpXroDTDmJ",
            "x-amz-storage-class: STANDARD_IA", "x-amz-server-side-encryption: aws:kms",
            "x-amz-server-side-encryption-aws-kms-key-id: arn:aws:kms:eu:1:key/2",
            "x-amz-server-side-encryption-bucket-key-enabled: true", "x-amz-tagging-count: 2",
            "x-amz-replication-status: COMPLETED",
            "x-amz-restore: ongoing-request=\"false\", expiry-date=\"Fri, 21 Dec 2040 00:00:00 GMT\"",
            "x-amz-expiration: expiry-date=\"Fri, 21 Dec 2040 00:00:00 GMT\", rule-id=\"1\"",
            "x-amz-website-redirect-location: /a%20b", "x-amz-object-lock-mode: GOVERNANCE",
            "x-amz-object-lock-retain-until-date: 2030-01-01T00:00:00.000Z",
            "x-amz-object-lock-legal-hold: ON", "x-amz-missing-meta: 1", "x-amz-meta-a: 1",
            "x-amz-meta-A: 2", "x-amz-meta-empty:", "x-amz-meta-Blanks: a  b",
            "x-amz-meta-utf8: gr\u00c3\u00bc\u00c3\u009fe", "x-amz-meta-quoted: \"a, b\"",
            "x-rgw-object-type: Normal", "Vary: Origin", "Vary: Accept-Encoding",
            "Content-Security-Policy: block-all-mixed-content",
            "X-Content-Type-Options: nosniff", "X-Unknown: kept");
    private static final List<String> FORBIDDING = List.of("Cache-Control: no-store",
            "cache-control: max-age=3, Private", "x-amz-request-charged: requester",
            "x-amz-server-side-encryption-customer-algorithm: AES256");
    private static final List<String> CHECKSUMS = List.of("x-amz-checksum-crc32: AAAAAA==",
            "x-amz-checksum-crc32c: AAAAAA==", "x-amz-checksum-crc64nvme: AAAAAAAAAAA=",
            "x-amz-checksum-sha1: 2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
            "x-amz-checksum-sha256: 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=-3");

    private final List<String> headers;
    private final byte[] body;
    private final boolean mayBeHeld;
    private final List<String> checksums;

    /**
     * @param headers whole lines
     * @param mayBeHeld whether nothing in the headers forbids it
     * @param checksums header lines that only come where they are asked for, and of the whole
     *            object
     */
    public RandomObject(List<String> headers, byte[] body, boolean mayBeHeld,
            List<String> checksums) {
        this.headers = headers;
        this.body = body;
        this.mayBeHeld = mayBeHeld;
        this.checksums = checksums;
    }

    public byte[] body() {
        return body;
    }

    public boolean mayBeHeld() {
        return mayBeHeld;
    }

    public static RandomObject of(long seed) {
        Random random = new Random(seed);
        List<String> headers = new ArrayList<>();
        for (String header : POSSIBLE) {
            if (random.nextInt(3) == 0) {
                headers.add(header);
            }
        }
        boolean mayBeHeld = random.nextInt(4) != 0;
        if (!mayBeHeld) {
            headers.add(FORBIDDING.get(random.nextInt(FORBIDDING.size())));
        }
        List<String> checksums = random.nextBoolean()
                ? List.of()
                : List.of(CHECKSUMS.get(random.nextInt(CHECKSUMS.size())),
                        "x-amz-checksum-type: "
                                + (random.nextBoolean() ? "COMPOSITE" : "FULL_OBJECT"));
        byte[] body = new byte[10 + random.nextInt(200_000)];
        random.nextBytes(body);
        return new RandomObject(List.copyOf(headers), body, mayBeHeld, checksums);
    }

    @Override
    public void play(Received request, Line line) throws IOException {
        Matcher range = RANGE.matcher(String.valueOf(request.header("Range")));
        boolean partial = range.matches();
        int from = partial ? Integer.parseInt(range.group(1)) : 0;
        int to = partial
                ? Math.min(body.length, Integer.parseInt(range.group(2)) + 1)
                : body.length;
        StringBuilder head = new StringBuilder("HTTP/1.1 ")
                .append(partial ? "206 Partial Content" : "200 OK")
                .append("\r\nETag: \"")
                .append(Arrays.hashCode(body))
                .append("\"\r\nLast-Modified: Fri, 20 Nov 2026 00:00:00 GMT\r\n");
        headers.stream()
                .filter(header -> !header.isEmpty())
                .forEach(
                        header -> head.append(header).append("\r\n"));
        if ("ENABLED".equals(request.header("x-amz-checksum-mode")) && to - from == body.length) {
            checksums.forEach(header -> head.append(header).append("\r\n"));
        }
        if (partial) {
            head.append("Content-Range: bytes %d-%d/%d\r\n".formatted(from, to - 1, body.length));
        }
        head.append("Accept-Ranges: bytes\r\nx-amz-request-id: R1\r\nContent-Length: ")
                .append(to - from)
                .append("\r\n\r\n");
        byte[] content = request.line().startsWith("HEAD")
                ? new byte[0]
                : Arrays.copyOfRange(body, from, to);
        line.write(head.toString(), content);
    }
}
