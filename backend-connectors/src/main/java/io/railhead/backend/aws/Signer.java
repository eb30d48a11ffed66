package io.railhead.backend.aws;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.railhead.backend.Caller;
import io.railhead.protocol.message.SigningKey;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * SigV4 for S3 by headers: signs a request as it will be sent, under a given payload hash. Every
 * header is signed except those that proxies change. Each char of a header is one byte. Any thread.
 */
final class Signer {
    /** Headers that a proxy on the way may change. */
    private static final Set<String> UNSIGNED = Set.of("connection", "expect", "transfer-encoding",
            "user-agent", "x-amzn-trace-id", "x-forwarded-for");
    private static final DateTimeFormatter DATE = DateTimeFormatter
            .ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final int DAY_CHARS = "yyyyMMdd".length();
    private static final HexFormat HEX = HexFormat.of();
    private static final Comparator<Map.Entry<String, String>> BY_NAME_AND_VALUE = Map.Entry
            .<String, String>comparingByKey()
            .thenComparing(Map.Entry.comparingByValue());
    /** The number of derived keys that are kept; those of other credentials take their place. */
    private static final int KEYS = 256;

    private final String region;
    private final Clock clock;
    private final AtomicReferenceArray<@Nullable DatedKey> keys = new AtomicReferenceArray<>(KEYS);
    private volatile Now now = new Now(Long.MIN_VALUE, "");

    Signer(String region, Clock clock) {
        this.region = region;
        this.clock = clock;
    }

    /** A second as {@code x-amz-date} has it. */
    private record Now(long second, String text) {

        String day() {
            return text.substring(0, DAY_CHARS);
        }
    }

    private record DatedKey(Caller.Credential credential, String day, SigningKey key) {}

    /**
     * Adds the signature and all that it needs to the request's headers.
     *
     * @param method the method to sign, which a preflight takes from the request to come
     * @param payloadHash the value of {@code x-amz-content-sha256}
     */
    void sign(HttpRequest request, String method, String payloadHash, Caller.Credential caller) {
        Now time = now();
        HttpHeaders headers = request.headers();
        headers.set("x-amz-date", time.text);
        headers.set("x-amz-content-sha256", payloadHash);
        String token = caller.sessionToken();
        if (token != null) {
            headers.set("x-amz-security-token", token);
        }
        StringBuilder canonical = new StringBuilder(1024).append(method).append('\n');
        appendTarget(canonical, request.uri());
        String names = appendHeaders(canonical, headers);
        canonical.append('\n').append(names).append('\n').append(payloadHash);
        String scope = time.day() + '/' + region + "/s3/aws4_request";
        String toSign = "AWS4-HMAC-SHA256\n" + time.text + '\n' + scope + '\n'
                + RequestEncoder.sha256(ByteBuffer.wrap(canonical.toString().getBytes(ISO_8859_1)));
        headers.set("Authorization", "AWS4-HMAC-SHA256 Credential=" + caller.accessKey() + '/'
                + scope + ", SignedHeaders=" + names + ", Signature="
                + HEX.formatHex(key(caller, time.day()).sign(toSign)));
    }

    private Now now() {
        Instant instant = clock.instant();
        Now known = now;
        if (known.second != instant.getEpochSecond()) {
            known = new Now(instant.getEpochSecond(), DATE.format(instant));
            now = known;
        }
        return known;
    }

    private SigningKey key(Caller.Credential credential, String day) {
        int slot = Math.floorMod(credential.accessKey().hashCode(), KEYS);
        DatedKey known = keys.get(slot);
        if (known == null || !known.day.equals(day) || !known.credential.equals(credential)) {
            known = new DatedKey(credential, day,
                    SigningKey.derive(credential.secretKey(), day, region, "s3"));
            keys.set(slot, known);
        }
        return known.key;
    }

    private static void appendTarget(StringBuilder canonical, String uri) {
        int mark = uri.indexOf('?');
        if (mark < 0) {
            canonical.append(uri).append("\n\n");
            return;
        }
        canonical.append(uri, 0, mark).append('\n');
        List<Map.Entry<String, String>> parameters = new ArrayList<>();
        for (String part : uri.substring(mark + 1).split("&", -1)) {
            int equals = part.indexOf('=');
            parameters.add(equals < 0
                    ? Map.entry(part, "")
                    : Map.entry(part.substring(0, equals), part.substring(equals + 1)));
        }
        parameters.sort(BY_NAME_AND_VALUE);
        for (Map.Entry<String, String> parameter : parameters) {
            canonical.append(parameter.getKey())
                    .append('=')
                    .append(parameter.getValue())
                    .append('&');
        }
        canonical.setCharAt(canonical.length() - 1, '\n');
    }

    /** Appends a line for each name, and returns the names. */
    private static String appendHeaders(StringBuilder canonical, HttpHeaders headers) {
        List<Map.Entry<String, String>> fields = new ArrayList<>(headers.size());
        for (Iterator<Map.Entry<String, String>> all = headers.iteratorAsString(); all
                .hasNext();) {
            Map.Entry<String, String> field = all.next();
            String name = field.getKey().toLowerCase(Locale.ROOT);
            if (!UNSIGNED.contains(name)) {
                fields.add(Map.entry(name, field.getValue()));
            }
        }
        // The sort is stable: values of one name stay in their order.
        fields.sort(Map.Entry.comparingByKey());
        StringBuilder names = new StringBuilder(256);
        String previous = "";
        for (Map.Entry<String, String> field : fields) {
            if (field.getKey().equals(previous)) {
                canonical.setCharAt(canonical.length() - 1, ',');
            } else {
                previous = field.getKey();
                names.append(names.isEmpty() ? "" : ";").append(previous);
                canonical.append(previous).append(':');
            }
            appendValue(canonical, field.getValue());
            canonical.append('\n');
        }
        return names.toString();
    }

    /** Appends the value, in which each run of white space is one space, and none at the ends. */
    private static void appendValue(StringBuilder canonical, String value) {
        int start = canonical.length();
        boolean space = false;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == ' ' || (c >= '\t' && c <= '\r')) {
                space = true;
            } else {
                if (space && canonical.length() > start) {
                    canonical.append(' ');
                }
                space = false;
                canonical.append(c);
            }
        }
    }
}
