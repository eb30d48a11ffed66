package io.railhead.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.AwsSessionCredentialsIdentity;

/** S3 requests as clients send them, signed by the SDK's own signer. */
public final class TestClient {
    private static final Set<String> SET_BY_HTTP_CLIENT = Set.of("host", "content-length");

    private final HttpClient http;
    private final Supplier<URI> endpoint;
    private final AwsCredentialsIdentity identity;
    private Clock clock = Clock.systemUTC();

    public TestClient(URI endpoint, String accessKey, String secretKey) {
        this(() -> endpoint, accessKey, secretKey);
    }

    /** @param endpoint asked for with each request: a gateway has its port when it has started */
    public TestClient(Supplier<URI> endpoint, String accessKey, String secretKey) {
        this(endpoint, accessKey, secretKey,
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build());
    }

    /** One that speaks TLS. */
    public TestClient(URI endpoint, String accessKey, String secretKey, SSLContext context) {
        this(() -> endpoint, accessKey, secretKey,
                HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .sslContext(context)
                        .build());
    }

    private TestClient(Supplier<URI> endpoint, String accessKey, String secretKey,
            HttpClient http) {
        this(endpoint, AwsCredentialsIdentity.create(accessKey, secretKey), http);
    }

    private TestClient(Supplier<URI> endpoint, AwsCredentialsIdentity identity, HttpClient http) {
        this.http = http;
        this.endpoint = endpoint;
        this.identity = identity;
    }

    /** The same client with temporary credentials. */
    public TestClient as(String accessKey, String secretKey, String token) {
        return new TestClient(endpoint,
                AwsSessionCredentialsIdentity.create(accessKey, secretKey, token), http);
    }

    /**
     * Returns the request or URL with its signature's first digit changed. A constant in its place
     * would be the true digit once in sixteen runs.
     */
    public static String forged(String signed) {
        int digit = signed.indexOf("Signature=") + "Signature=".length();
        return signed.substring(0, digit) + (signed.charAt(digit) == '0' ? '1' : '0')
                + signed.substring(digit + 1);
    }

    /** The same client of another port. */
    public TestClient at(URI other) {
        return new TestClient(() -> other, identity, http);
    }

    public TestClient at(Clock otherClock) {
        TestClient other = new TestClient(endpoint, identity, http);
        other.clock = otherClock;
        return other;
    }

    /** The outcome that {@code x-cache} names, or "". */
    public static String cached(HttpResponse<?> answer) {
        return answer.headers().firstValue("x-cache").orElse("");
    }

    public HttpResponse<byte[]> get(String path, String... headers) {
        return send("GET", path, new byte[0], headers);
    }

    public HttpResponse<byte[]> head(String path, String... headers) {
        return send("HEAD", path, new byte[0], headers);
    }

    public HttpResponse<byte[]> put(String path, byte[] body, String... headers) {
        return send("PUT", path, body, headers);
    }

    public HttpResponse<byte[]> delete(String path) {
        return send("DELETE", path, new byte[0]);
    }

    public HttpResponse<byte[]> send(String method, String path, byte[] body, String... headers) {
        return sendAsync(method, path, body, headers).join();
    }

    public CompletableFuture<HttpResponse<byte[]>> sendAsync(String method, String path,
            byte[] body,
            String... headers) {
        return http.sendAsync(signed(method, path, body, headers), BodyHandlers.ofByteArray());
    }

    /** By the gateway: an error, or a body that is cut, and no client that tired of waiting. */
    public static void assertGivenUp(CompletableFuture<HttpResponse<byte[]>> sent) {
        try {
            HttpResponse<byte[]> answer = sent.join();
            assertThat(answer.statusCode()).as(new String(answer.body(), UTF_8)).isEqualTo(503);
        } catch (CompletionException cut) {
            assertThat(cut.getCause()).isInstanceOf(IOException.class)
                    .isNotInstanceOf(HttpTimeoutException.class);
        }
    }

    public HttpResponse<byte[]> send(HttpRequest request) {
        return http.sendAsync(request, BodyHandlers.ofByteArray()).join();
    }

    /** A signed GET whose body goes where {@code handler} says. */
    public <T> CompletableFuture<T> sendAsync(String path, HttpResponse.BodyHandler<T> handler) {
        return http.sendAsync(signed("GET", path, new byte[0]), handler).thenApply(answer -> {
            if (answer.statusCode() != 200) {
                throw new IllegalStateException("status " + answer.statusCode());
            }
            return answer.body();
        });
    }

    /**
     * The headers, Host among them, of a GET that is signed for another host than it is sent to.
     */
    public Map<String, String> signedFor(String host, String path) {
        SdkHttpRequest unsigned = SdkHttpRequest.builder()
                .method(SdkHttpMethod.GET)
                .uri(URI.create(endpoint.get() + path))
                .putHeader("Host", host)
                .build();
        Map<String, String> headers = new TreeMap<>();
        sign(unsigned, new byte[0], false).headers()
                .forEach((name, values) -> headers.put(name, values.getFirst()));
        return headers;
    }

    private SdkHttpRequest sign(SdkHttpRequest unsigned, byte[] body, boolean unsignedPayload) {
        return AwsV4HttpSigner.create()
                .sign(request -> request.request(unsigned)
                        .identity(identity)
                        .payload(ContentStreamProvider.fromByteArray(body))
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4FamilyHttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED,
                                !unsignedPayload)
                        .putProperty(HttpSigner.SIGNING_CLOCK, clock))
                .request();
    }

    public HttpRequest signed(String method, String path, byte[] body, String... headers) {
        URI uri = URI.create(endpoint.get() + path);
        SdkHttpRequest.Builder unsigned = SdkHttpRequest.builder()
                .method(SdkHttpMethod.fromValue(method))
                .uri(uri);
        for (int i = 0; i < headers.length; i += 2) {
            unsigned.putHeader(headers[i], headers[i + 1]);
        }
        boolean unsignedPayload = List.of(headers).contains("UNSIGNED-PAYLOAD");
        SdkHttpRequest signed = sign(unsigned.build(), body, unsignedPayload);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(60))
                .method(method,
                        body.length == 0 && !method.equals("PUT") && !method.equals("POST")
                                ? BodyPublishers.noBody()
                                : BodyPublishers.ofByteArray(body));
        for (Map.Entry<String, List<String>> header : signed.headers().entrySet()) {
            if (!SET_BY_HTTP_CLIENT.contains(header.getKey().toLowerCase(Locale.ROOT))) {
                header.getValue().forEach(value -> request.header(header.getKey(), value));
            }
        }
        return request.build();
    }

    /** A form to the Security Token Service. */
    public HttpRequest signedForSts(String path, byte[] form) {
        URI uri = URI.create(endpoint.get() + path);
        String type = "application/x-www-form-urlencoded";
        SdkHttpRequest unsigned = SdkHttpRequest.builder()
                .method(SdkHttpMethod.POST)
                .uri(uri)
                .putHeader("Content-Type", type)
                .build();
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .POST(BodyPublishers.ofByteArray(form));
        AwsV4HttpSigner.create()
                .sign(signing -> signing.request(unsigned)
                        .identity(identity)
                        .payload(ContentStreamProvider.fromByteArray(form))
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "sts")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1"))
                .request()
                .headers()
                .forEach((name, values) -> {
                    if (!SET_BY_HTTP_CLIENT.contains(name.toLowerCase(Locale.ROOT))) {
                        values.forEach(value -> request.header(name, value));
                    }
                });
        return request.build();
    }

    /** A URL that carries its own signature. */
    public URI presigned(String method, String path, Duration life) {
        SdkHttpRequest unsigned = SdkHttpRequest.builder()
                .method(SdkHttpMethod.fromValue(method))
                .uri(URI.create(endpoint.get() + path))
                .build();
        return AwsV4HttpSigner.create()
                .sign(request -> request.request(unsigned)
                        .identity(identity)
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4FamilyHttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, false)
                        .putProperty(AwsV4FamilyHttpSigner.AUTH_LOCATION,
                                AwsV4FamilyHttpSigner.AuthLocation.QUERY_STRING)
                        .putProperty(AwsV4FamilyHttpSigner.EXPIRATION_DURATION, life)
                        .putProperty(HttpSigner.SIGNING_CLOCK, clock))
                .request()
                .getUri();
    }

    /** Not signed at all. */
    public HttpResponse<byte[]> anonymous(String method, String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(endpoint.get() + path))
                .method(method, BodyPublishers.noBody())
                .build();
        return http.sendAsync(request, BodyHandlers.ofByteArray()).join();
    }
}
