package io.railhead.backend.aws;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.railhead.backend.Caller;
import io.railhead.backend.PercentCodec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** The SDK's own signer comes to the same signature. */
class SignerTest {
    private static final Instant NOON = Instant.parse("2026-11-20T12:00:00Z");
    private static final String UNSIGNED = "UNSIGNED-PAYLOAD";
    private static final String[] NAMES = {"Range", "If-Match", "x-amz-meta-a", "X-Amz-Meta-A",
            "x-amz-meta-a-b", "Content-Type", "User-Agent", "Expect", "Connection", "x-amz-acl"};
    private static final String[] VALUES = {"bytes=0-9", "\"e\"", "a  b", "a \t b", "a ", "", "x,y",
            "a/b=c&d", "100-continue"};
    private static final String[] PARTS = {"a", "a-b", "a.b", "aB", "ü", "a b", "a=b", "~", "*",
            "versionId", "10", "9"};

    private final SettableClock clock = new SettableClock();
    private final Signer signer = new Signer("eu-test-1", clock);

    @Test
    void theSdkSignsAThousandRandomRequestsAlike() {
        Random random = new Random(2026112701);
        for (int round = 0; round < 1000; round++) {
            clock.now = NOON.plusSeconds(random.nextInt(200_000));
            HttpRequest request = random(random);
            Caller.Credential credential = new Caller.Credential("AK" + random.nextInt(4),
                    "secret" + random.nextInt(2), random.nextBoolean() ? "a/token+=" : null);
            String expected = bySdk(request, credential);
            signer.sign(request, request.method().name(), UNSIGNED, credential);
            assertThat(request.headers().get("Authorization")).as("round %d: %s", round, request)
                    .isEqualTo(expected);
        }
    }

    /** The next secret of a rotated key, and tomorrow's date, need a key of their own. */
    @Test
    void aKeptKeyIsTheSecretsAndTheDays() {
        Set<String> signatures = new HashSet<>();
        for (int turn = 0; turn < 2; turn++) {
            for (String secret : new String[]{"old", "new"}) {
                for (Duration later : new Duration[]{Duration.ZERO, Duration.ofDays(1)}) {
                    clock.now = NOON.plus(later);
                    signatures.add(authorization("k", new Caller.Credential("AK", secret, null)));
                }
            }
        }
        assertThat(signatures).hasSize(4);
    }

    @Test
    void eachSecondHasItsDate() {
        Caller.Credential credential = new Caller.Credential("AK", "secret", null);
        HttpRequest first = request("/k");
        signer.sign(first, "GET", UNSIGNED, credential);
        clock.now = NOON.plusSeconds(1);
        HttpRequest second = request("/k");
        signer.sign(second, "GET", UNSIGNED, credential);
        assertThat(first.headers().get("x-amz-date")).isEqualTo("20261120T120000Z");
        assertThat(second.headers().get("x-amz-date")).isEqualTo("20261120T120001Z");
    }

    /** A char is a byte here; the SDK is given the character that the bytes mean. */
    @Test
    void bytesOfUtf8AreSignedAsTheyAreSent() {
        Caller.Credential credential = new Caller.Credential("AK", "secret", null);
        HttpRequest meant = request("/k");
        meant.headers().set("x-amz-meta-a", "grün");
        HttpRequest sent = request("/k");
        sent.headers().set("x-amz-meta-a", new String("grün".getBytes(UTF_8), ISO_8859_1));
        signer.sign(sent, "GET", UNSIGNED, credential);
        assertThat(sent.headers().get("Authorization")).isEqualTo(bySdk(meant, credential));
    }

    private String authorization(String key, Caller.Credential credential) {
        HttpRequest request = request("/" + key);
        signer.sign(request, "GET", UNSIGNED, credential);
        return request.headers().get("Authorization");
    }

    private static HttpRequest request(String uri) {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, uri);
        request.headers().set("Host", "store:9000");
        return request;
    }

    private static HttpRequest random(Random random) {
        HttpRequest request = request("/bucket/" + PercentCodec.encodePath(
                PARTS[random.nextInt(PARTS.length)]) + query(random));
        for (int i = random.nextInt(8); i > 0; i--) {
            request.headers()
                    .add(NAMES[random.nextInt(NAMES.length)],
                            VALUES[random.nextInt(VALUES.length)]);
        }
        return request;
    }

    private static String query(Random random) {
        List<String> parts = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
            String name = PercentCodec.encode(PARTS[random.nextInt(PARTS.length)]);
            parts.add(random.nextInt(4) == 0
                    ? name
                    : name + "=" + PercentCodec.encode(PARTS[random.nextInt(PARTS.length)]));
        }
        return parts.isEmpty() ? "" : "?" + String.join("&", parts);
    }

    private String bySdk(HttpRequest request, Caller.Credential credential) {
        SdkHttpRequest.Builder out = SdkHttpRequest.builder()
                .method(SdkHttpMethod.fromValue(request.method().name()))
                .protocol("https")
                .host("store")
                .port(9000);
        String[] target = request.uri().split("\\?", 2);
        out.encodedPath(target[0]);
        if (target.length == 2) {
            for (String part : target[1].split("&", -1)) {
                String[] pair = part.split("=", 2);
                append(out, PercentCodec.decodeName(pair[0]),
                        pair.length == 1 ? null : PercentCodec.decodeName(pair[1]));
            }
        }
        for (Map.Entry<String, String> header : request.headers()) {
            out.appendHeader(header.getKey(), header.getValue());
        }
        String token = credential.sessionToken();
        AwsCredentialsIdentity identity = token == null
                ? AwsBasicCredentials.create(credential.accessKey(), credential.secretKey())
                : AwsSessionCredentials.create(credential.accessKey(), credential.secretKey(),
                        token);
        return AwsV4HttpSigner.create()
                .sign(order -> order.identity(identity)
                        .request(out.build())
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "eu-test-1")
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, false)
                        .putProperty(HttpSigner.SIGNING_CLOCK, clock))
                .request()
                .firstMatchingHeader("Authorization")
                .orElseThrow();
    }

    @SuppressWarnings("NullAway") // The SDK's interface is not annotated, and takes null.
    private static void append(SdkHttpRequest.Builder out, String name, @Nullable String value) {
        out.appendRawQueryParameter(name, value);
    }

    private static final class SettableClock extends Clock {
        private Instant now = NOON;

        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneOffset getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(java.time.ZoneId zone) {
            return this;
        }
    }
}
