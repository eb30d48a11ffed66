package io.railhead.gateway.fill;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Line;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A store as moto is: of an upload in parts a HEAD tells a sum of sums as if it were of the bytes,
 * and a GET of all of it says what it is. A client that believed it would find the bytes corrupt.
 */
class UncertainChecksumsIT {
    private static final byte[] BODY = "0123456789".getBytes();
    private static final String[] CHECKED = {"x-amz-checksum-mode", "ENABLED"};

    private volatile String type = "";
    private final ScriptedStore store = new ScriptedStore(this::play);
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: verified
                verify_fills: true
              - bucket: held
                freshness: immutable
            """);
    private final TestClient client = gateway.client();

    private void play(Received request, Line line) throws IOException {
        boolean isHead = request.line().startsWith("HEAD ");
        line.write("HTTP/1.1 " + (isHead ? "200 OK" : "206 Partial Content")
                + "\r\nETag: \"0123456789abcdef0123456789abcdef-2\"\r\nContent-Length: "
                + BODY.length + "\r\n"
                + (isHead
                        ? "x-amz-checksum-crc32: AAAAAA==\r\n" + type
                        : "Content-Range: bytes 0-9/10\r\n")
                + "\r\n", isHead ? new byte[0] : BODY);
    }

    @Test
    void areNotToldWithTheBytes() {
        for (String bucket : new String[]{"held", "b"}) {
            for (int round = 0; round < 3; round++) {
                HttpResponse<byte[]> answer = client.get("/" + bucket + "/key", CHECKED);
                assertThat(answer.body()).isEqualTo(BODY);
                assertThat(answer.headers().firstValue("x-amz-checksum-crc32")).isEmpty();
            }
            assertThat(client.head("/" + bucket + "/key", CHECKED)
                    .headers()
                    .firstValue("x-amz-checksum-crc32")).contains("AAAAAA==");
        }
    }

    @Test
    void provePagesNeitherRightNorWrong() {
        for (int round = 0; round < 2; round++) {
            assertThat(client.get("/verified/key").body()).isEqualTo(BODY);
        }
        assertThat(gateway.metrics()
                .lines()
                .filter(line -> line.startsWith("railhead_integrity_failures_total{")))
                .isEmpty();
    }

    @Test
    void areToldWhereTheirTypeIs() {
        type = "x-amz-checksum-type: FULL_OBJECT\r\n";
        assertThat(client.get("/held/key", CHECKED).headers().firstValue("x-amz-checksum-crc32"))
                .contains("AAAAAA==");
    }
}
