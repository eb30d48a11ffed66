package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Headers;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Line;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Preflights, before a store as Ceph RGW is to a tenant's buckets: it finds them by who signed, and
 * verifies a preflight as if it had the method that it asks for.
 */
class PreflightIT {
    private static final Duration HOUR = Duration.ofHours(1);

    private final ScriptedStore store = new ScriptedStore(this::play);
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    private void play(Received request, Line line) throws IOException {
        line.write(isSigned(request)
                ? "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: http://a\r\nContent-Length: 0\r\n\r\n"
                : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", new byte[0]);
    }

    private boolean isSigned(Received request) {
        if (!request.line().startsWith("OPTIONS ")
                || request.header("Authorization") == null) {
            return false;
        }
        Headers.Builder headers = Headers.builder();
        request.headers().forEach(header -> {
            String[] parts = header.split(":", 2);
            headers.add(parts[0], parts[1].strip());
        });
        String path = request.line().split(" ", 3)[1].split("\\?", 2)[0];
        try {
            return new Authenticator(gateway.credentials()).authenticate(
                    new RequestHead(Objects.requireNonNull(
                            request.header("Access-Control-Request-Method")), path, null,
                            headers.build()),
                    Instant.now()) instanceof Authentication.Signed;
        } catch (S3Refusal e) {
            return false;
        }
    }

    private RawConnection.Answer preflight(URI url, String method, String... more) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            return raw.send("OPTIONS " + url.getRawPath() + "?" + url.getRawQuery()
                    + " HTTP/1.1\r\nHost: " + url.getAuthority()
                    + "\r\nOrigin: http://a\r\nAccess-Control-Request-Method: " + method + "\r\n"
                    + String.join("", more) + "\r\n").receive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "PUT", "HEAD", "DELETE"})
    void ofAPresignedUrlIsItsSigners(String method) {
        RawConnection.Answer answer = preflight(client.presigned(method, "/b/key", HOUR), method);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers()).containsEntry("access-control-allow-origin", "http://a");
    }

    /** The store hears it all the same, and says what it says to anybody. */
    @Test
    void ofAUrlThatIsNotPresignedForThatMethodIsNobodys() {
        assertThat(preflight(client.presigned("GET", "/b/key", HOUR), "PUT").status())
                .isEqualTo(404);
        URI url = client.presigned("GET", "/b/key", HOUR);
        URI forged = URI.create(TestClient.forged(url.toString()));
        assertThat(preflight(forged, "GET").status()).isEqualTo(404);
        assertThat(preflight(client.presigned("GET", "/b/key", HOUR), "X").status())
                .isEqualTo(404);
        assertThat(preflight(URI.create(gateway.endpoint() + "/b/key?versionId=1"), "GET")
                .status()).isEqualTo(404);
    }

    /**
     * Ceph's gateway would look for the bucket in nobody's tenant: 404. AWS S3 says what is
     * missing.
     */
    @Test
    void ofAPresignedUrlWithoutItsHeadersIsTold() {
        URI url = client.presigned("GET", "/b/key", HOUR);
        assertRefused(url, "Access-Control-Request-Method: GET\r\n", "Origin");
        assertRefused(url, "Origin: http://a\r\n", "Access-Control-Request-Method");
        assertRefused(url, "", "Origin");
    }

    private void assertRefused(URI url, String headers, String missing) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer answer = raw.send("OPTIONS " + url.getRawPath() + "?"
                    + url.getRawQuery() + " HTTP/1.1\r\nHost: " + url.getAuthority() + "\r\n"
                    + headers + "\r\n").receive();
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.body()).contains("<Code>BadRequest</Code>", missing);
        }
    }

    /** A preflight is no way to have a request signed that nobody signed. */
    @Test
    void signedByAHeaderIsNobodys() {
        assertThat(preflight(URI.create(gateway.endpoint() + "/b/key?versionId=1"), "GET",
                "Authorization: AWS4-HMAC-SHA256 Credential=AK/x\r\n").status()).isEqualTo(404);
    }
}
