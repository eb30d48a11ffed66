package io.railhead.gateway.s3.sigv4;

import static java.util.Objects.requireNonNull;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.TestCredentials;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignRequest;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.AwsSessionCredentialsIdentity;

/**
 * Requests as the AWS SDK signs them: somebody else's reading of the same rules. The scheme is
 * https, for over http the SDK hashes every payload, asked to or not.
 */
public final class SdkRequests {
    public static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");

    /** What goes over the wire. */
    public static final class Wire {
        private final RequestHead head;
        private final byte[] body;

        private Wire(RequestHead head, byte[] body) {
            this.head = head;
            this.body = body;
        }

        public RequestHead head() {
            return head;
        }

        /** The bytes themselves, not a copy. */
        public byte[] body() {
            return body;
        }
    }

    private SdkRequests() {}

    /**
     * Signs.
     *
     * @param pathAndQuery the path encoded, the query's names and values not
     */
    public static Wire sign(SdkHttpMethod method, String pathAndQuery, Map<String, String> headers,
            byte[] body, Consumer<SignRequest.Builder<AwsCredentialsIdentity>> options) {
        return sign(AwsCredentialsIdentity.create(TestCredentials.ACCESS_KEY,
                TestCredentials.SECRET_KEY), method, pathAndQuery, headers, body, options);
    }

    static Wire signWithToken(SdkHttpMethod method, String pathAndQuery) {
        return signWithToken(method, pathAndQuery, Map.of());
    }

    static Wire signWithToken(SdkHttpMethod method, String pathAndQuery,
            Map<String, String> headers) {
        return sign(AwsSessionCredentialsIdentity.create(TestCredentials.TEMPORARY_KEY,
                TestCredentials.SECRET_KEY, TestCredentials.TOKEN), method, pathAndQuery, headers,
                new byte[0], options -> {});
    }

    static void presigned(SignRequest.Builder<AwsCredentialsIdentity> options) {
        options.putProperty(AwsV4FamilyHttpSigner.AUTH_LOCATION,
                AwsV4FamilyHttpSigner.AuthLocation.QUERY_STRING)
                .putProperty(AwsV4FamilyHttpSigner.EXPIRATION_DURATION, Duration.ofHours(1))
                .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, false);
    }

    private static Wire sign(AwsCredentialsIdentity who, SdkHttpMethod method,
            String pathAndQuery, Map<String, String> headers, byte[] body,
            Consumer<SignRequest.Builder<AwsCredentialsIdentity>> options) {
        int question = pathAndQuery.indexOf('?');
        SdkHttpRequest.Builder request = SdkHttpRequest.builder()
                .method(method)
                .protocol("https")
                .host("gateway.rack")
                .port(9000)
                .encodedPath(question < 0 ? pathAndQuery : pathAndQuery.substring(0, question));
        if (question >= 0) {
            for (String pair : pathAndQuery.substring(question + 1).split("&", -1)) {
                int equals = pair.indexOf('=');
                request.appendRawQueryParameter(pair.substring(0, equals),
                        pair.substring(equals + 1));
            }
        }
        headers.forEach(request::appendHeader);
        SignedRequest signed = AwsV4HttpSigner.create().sign(sign -> {
            sign.identity(who)
                    .request(request.build())
                    .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                    .putProperty(AwsV4HttpSigner.REGION_NAME, "eu-north-1")
                    .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                    .putProperty(AwsV4FamilyHttpSigner.NORMALIZE_PATH, false)
                    .putProperty(HttpSigner.SIGNING_CLOCK, Clock.fixed(NOW, ZoneOffset.UTC));
            if (body.length > 0 || method == SdkHttpMethod.PUT) {
                sign.payload(ContentStreamProvider.fromByteArray(body));
            }
            options.accept(sign);
        });
        return new Wire(head(signed.request()), body(signed.payload().orElse(null)));
    }

    private static RequestHead head(SdkHttpRequest request) {
        Headers.Builder headers = Headers.builder();
        request.forEachHeader((name, values) -> values.forEach(v -> headers.add(name, v)));
        return new RequestHead(request.method().name(), request.encodedPath(),
                request.encodedQueryParameters().orElse(null), headers.build());
    }

    private static byte[] body(@Nullable ContentStreamProvider payload) {
        if (payload == null) {
            return new byte[0];
        }
        try (InputStream in = requireNonNull(payload.newStream())) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
