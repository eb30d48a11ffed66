package io.railhead.benchmarks;

import io.railhead.backend.Headers;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
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
 * Measures the verification of a ranged GET that the AWS SDK signed, with a static key and with the
 * credentials of a role session.
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
    private static final String CREDENTIALS = """
            principals:
              - name: alice
                keys:
                  - access_key: AKIAIOSFODNN7EXAMPLE
                    secret_key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
            roles:
              - name: pods
                issuer: https://k8s
                claims: {kubernetes.io/namespace: "ml-*", kubernetes.io/serviceaccount/name: "*"}
                principal: "${kubernetes.io/namespace}.${kubernetes.io/serviceaccount/name}"
                tenant: "${kubernetes.io/namespace}"
                backend_credential: {access_key: A, secret_key: S}
            """;
    private static final String CONFIG = """
            gateway:
              credentials: credentials.yaml
              web_identity: {issuers: [{issuer: "https://k8s", audiences: [railhead]}]}
            backends: {a: {endpoints: ["http://s3"]}}
            """;

    private CredentialStore credentials;
    private Authenticator authenticator;
    private RequestHead byKey;
    private RequestHead bySession;

    @Setup
    public void open() throws IOException, ConfigException {
        Path folder = Files.createTempDirectory("signatures");
        Files.writeString(folder.resolve("credentials.yaml"), CREDENTIALS);
        credentials = CredentialStore.open(ConfigLoader
                .load(Files.writeString(folder.resolve("railhead.yaml"), CONFIG))
                .gateway());
        authenticator = new Authenticator(credentials);
        byKey = signed(AwsCredentialsIdentity.create("AKIAIOSFODNN7EXAMPLE",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"));
        AccessKey key = credentials
                .seal(new RoleSession("pods", RoleSession.hash("https://k8s"), "pod-1",
                        "system:serviceaccount:ml-a:train", CLOCK.instant(),
                        CLOCK.instant().plusSeconds(3600), Map.of("kubernetes.io/namespace", "ml-a",
                                "kubernetes.io/serviceaccount/name", "train"),
                        null));
        bySession = signed(AwsSessionCredentialsIdentity.create(key.id(), key.secret().reveal(),
                Objects.requireNonNull(key.sessionToken()).reveal()));
        if (!(staticKey() instanceof Authentication.Signed)
                || !(session() instanceof Authentication.Signed)) {
            throw new IllegalStateException("a request was not verified");
        }
    }

    private static RequestHead signed(AwsCredentialsIdentity identity) {
        SdkHttpRequest request = AwsV4HttpSigner.create()
                .sign(sign -> sign.identity(identity)
                        .request(SdkHttpRequest.builder()
                                .method(SdkHttpMethod.GET)
                                .uri(URI.create("https://rack7:9000/bucket/a/key/of/an/object"))
                                .putHeader("Range", "bytes=0-9")
                                .build())
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(HttpSigner.SIGNING_CLOCK, CLOCK))
                .request();
        Headers.Builder headers = Headers.builder();
        request.forEachHeader((name, values) -> values.forEach(value -> headers.add(name, value)));
        return new RequestHead("GET", request.encodedPath(), null, headers.build());
    }

    @Benchmark
    public Authentication staticKey() {
        return authenticator.authenticate(received(byKey), CLOCK.instant());
    }

    @Benchmark
    public Authentication session() {
        return authenticator.authenticate(received(bySession), CLOCK.instant());
    }

    /** Copies each field, as a received request has strings whose hashes are not known yet. */
    private static RequestHead received(RequestHead head) {
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
