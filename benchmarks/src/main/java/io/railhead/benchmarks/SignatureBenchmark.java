package io.railhead.benchmarks;

import io.railhead.backend.Headers;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
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

/**
 * Measures the verification of a ranged GET: the example with a known signature in Amazon's API
 * reference.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up
public class SignatureBenchmark {
    private static final Instant NOW = Instant.parse("2013-05-24T00:05:00Z");
    private static final String PRINCIPALS = """
            principals:
              - name: alice
                keys:
                  - access_key: AKIAIOSFODNN7EXAMPLE
                    secret_key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
            """;
    private static final RequestHead GET = new RequestHead("GET", "/test.txt", null,
            Headers.builder()
                    .add("Host", "examplebucket.s3.amazonaws.com")
                    .add("x-amz-date", "20130524T000000Z")
                    .add("x-amz-content-sha256",
                            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
                    .add("Range", "bytes=0-9")
                    .add("Authorization", "AWS4-HMAC-SHA256 Credential="
                            + "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                            + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature="
                            + "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
                    .build());

    private CredentialStore credentials;
    private Authenticator authenticator;

    @Setup
    public void open() throws IOException, ConfigException {
        Path file = Files.createTempFile("credentials", ".yaml");
        try {
            Files.writeString(file, PRINCIPALS);
            credentials = CredentialStore.load(file);
        } finally {
            Files.delete(file);
        }
        authenticator = new Authenticator(credentials);
        if (!(verify() instanceof Authentication.Signed)) {
            throw new IllegalStateException("the example was not verified");
        }
    }

    @Benchmark
    public Authentication verify() {
        return authenticator.authenticate(GET, NOW);
    }

    @TearDown
    public void close() {
        credentials.close();
    }
}
