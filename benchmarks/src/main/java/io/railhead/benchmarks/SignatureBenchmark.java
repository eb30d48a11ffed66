package io.railhead.benchmarks;

import io.railhead.backend.Headers;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.gateway.s3.sigv4.SignatureMemory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.AwsSessionCredentialsIdentity;

/**
 * Measures the verification of ranged GETs that the AWS SDK signed, on a kept connection. Each
 * request names another key, in another second. Their heads are copied first, as received ones have
 * strings of their own: {@code copyAlone} has the cost of that.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
public class SignatureBenchmark {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-26T12:00:00Z"),
            ZoneOffset.UTC);
    private static final String TOKEN = "FwoGZXIvYXdzEBYaDEXAMPLEtoken+/x".repeat(25);
    private static final int HEADS = 64;
    private static final Query NO_QUERY = Query.require(null);
    private static final String CREDENTIALS = """
            principals:
              - name: alice
                keys:
                  - access_key: AKIAIOSFODNN7EXAMPLE
                    secret_key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
                  - access_key: AKIAI44QH8DHBEXAMPLE
                    secret_key: je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY
                    session_token: "%s"
            roles:
              - name: pods
                issuer: https://k8s
                claims: {kubernetes.io/namespace: "ml-*", kubernetes.io/serviceaccount/name: "*"}
                principal: "${kubernetes.io/namespace}.${kubernetes.io/serviceaccount/name}"
                tenant: "${kubernetes.io/namespace}"
                backend_credential: {access_key: A, secret_key: S}
            """.formatted(TOKEN);
    private static final String CONFIG = """
            gateway:
              credentials: credentials.yaml
              web_identity: {issuers: [{issuer: "https://k8s", audiences: [railhead]}]}
            backends: {a: {endpoints: ["http://s3"]}}
            """;

    private final SignatureMemory memory = new SignatureMemory();
    private CredentialStore credentials;
    private Authenticator authenticator;
    private RequestHead[] byKey;
    private RequestHead[] bySession;
    private RequestHead[] byToken;
    private RequestHead[] ofTenHeaders;
    private RequestHead[] ofEscapes;
    private int next;

    @Setup
    public void open() throws IOException, ConfigException {
        Path folder = Files.createTempDirectory("signatures");
        Files.writeString(folder.resolve("credentials.yaml"), CREDENTIALS);
        credentials = CredentialStore.open(ConfigLoader
                .load(Files.writeString(folder.resolve("railhead.yaml"), CONFIG))
                .gateway());
        authenticator = new Authenticator(credentials);
        AwsCredentialsIdentity key = AwsCredentialsIdentity.create("AKIAIOSFODNN7EXAMPLE",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
        byKey = signed(key, "a/key/of/an/object", 0);
        ofTenHeaders = signed(key, "a/key/of/an/object", 6);
        ofEscapes = signed(key, "a%20long%20key/%E2%82%AC%3D1%2B2/%C3%A4%C3%B6%C3%BC%3B".repeat(4),
                0);
        byToken = signed(AwsSessionCredentialsIdentity.create("AKIAI44QH8DHBEXAMPLE",
                "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY", TOKEN), "a/key/of/an/object", 0);
        AccessKey session = credentials
                .seal(new RoleSession("pods", RoleSession.hash("https://k8s"), "pod-1",
                        "system:serviceaccount:ml-a:train", CLOCK.instant(),
                        CLOCK.instant().plusSeconds(3600), Map.of("kubernetes.io/namespace", "ml-a",
                                "kubernetes.io/serviceaccount/name", "train"),
                        null));
        bySession = signed(
                AwsSessionCredentialsIdentity.create(session.id(), session.secret().reveal(),
                        Objects.requireNonNull(session.sessionToken()).reveal()),
                "a/key/of/an/object", 0);
        requireAll(this::staticKey);
        requireAll(this::session);
        requireAll(this::staticKeyAndToken);
        requireAll(this::tenHeaders);
        requireAll(this::escapedKey);
    }

    private static void requireAll(Supplier<Authentication> verification) {
        for (int i = 0; i < HEADS; i++) {
            if (!(verification.get() instanceof Authentication.Signed)) {
                throw new IllegalStateException("a request was not verified");
            }
        }
    }

    /** @param more signed headers of the request's own, beside those of the signer */
    private static RequestHead[] signed(AwsCredentialsIdentity identity, String key, int more) {
        RequestHead[] heads = new RequestHead[HEADS];
        for (int i = 0; i < HEADS; i++) {
            heads[i] = signed(identity, key + i, more,
                    Clock.fixed(CLOCK.instant().plusSeconds(i), ZoneOffset.UTC));
        }
        return heads;
    }

    private static RequestHead signed(AwsCredentialsIdentity identity, String key, int more,
            Clock clock) {
        SdkHttpRequest.Builder unsigned = SdkHttpRequest.builder()
                .method(SdkHttpMethod.GET)
                .uri(URI.create("https://rack7:9000/bucket/" + key))
                .putHeader("Range", "bytes=0-9");
        for (int i = 0; i < more; i++) {
            unsigned.putHeader("x-amz-meta-" + i, "the value of header " + i);
        }
        SdkHttpRequest request = AwsV4HttpSigner.create()
                .sign(sign -> sign.identity(identity)
                        .request(unsigned.build())
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(HttpSigner.SIGNING_CLOCK, clock))
                .request();
        Headers.Builder headers = Headers.builder();
        request.forEachHeader((name, values) -> values.forEach(value -> headers.add(name, value)));
        return new RequestHead("GET", request.encodedPath(), null, headers.build());
    }

    @Benchmark
    public Authentication staticKey() {
        return verify(byKey);
    }

    @Benchmark
    public Authentication session() {
        return verify(bySession);
    }

    /** Measures a static key's session token of 800 characters. */
    @Benchmark
    public Authentication staticKeyAndToken() {
        return verify(byToken);
    }

    @Benchmark
    public Authentication tenHeaders() {
        return verify(ofTenHeaders);
    }

    @Benchmark
    public Authentication escapedKey() {
        return verify(ofEscapes);
    }

    @Benchmark
    public RequestHead copyAlone() {
        return received(byKey);
    }

    private Authentication verify(RequestHead[] heads) {
        return authenticator.authenticate(received(heads), NO_QUERY, CLOCK.instant(), memory);
    }

    /** Copies each field, as a received request has strings whose hashes are not known yet. */
    private RequestHead received(RequestHead[] heads) {
        next = (next + 1) % HEADS;
        RequestHead head = heads[next];
        Headers.Builder headers = Headers.builder();
        head.headers()
                .forEach((name, value) -> headers.add(name,
                        String.copyValueOf(value.toCharArray())));
        return new RequestHead(head.method(), head.rawPath(), null, headers.build());
    }

    @TearDown
    public void close() {
        credentials.close();
    }
}
