package io.railhead.gateway.s3.body;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.gateway.s3.sigv4.HandSigned;
import java.net.http.HttpResponse;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * SDKs declare the sum of each HTTP body by default. A body that goes by RDMA is empty, so its sum
 * is that of nothing; the bytes in memory are stored all the same.
 */
class EmptyBodySumsIT {
    private static final int SIZE = 100_000;
    private static final String CHUNKS = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

    private final byte[] object = new byte[SIZE];
    private final ConcurrentLinkedQueue<Headers> stored = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<byte[]> bodies = new ConcurrentLinkedQueue<>();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).principals(TestGateway.UPLOADER);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void start() {
        new Random(1).nextBytes(object);
        store.fault((exchange, body) -> {
            if (exchange.getRequestMethod().equals("PUT")) {
                stored.add(exchange.getRequestHeaders());
                bodies.add(body);
            }
            return false;
        });
        peer = gateway.closing(new TestPeer(client, "SK", SIZE));
        peer.set(0, object);
    }

    private void assertStored(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as(new String(answer.body())).isEqualTo(200);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).contains("200");
        assertStored();
    }

    private void assertStored(RawConnection.Answer answer) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers()).containsEntry("x-amz-rdma-reply", "200");
        assertStored();
    }

    private void assertStored() {
        assertThat(bodies.remove()).isEqualTo(object);
        Set<String> names = stored.remove().keySet();
        assertThat(names).noneMatch(name -> name.toLowerCase(Locale.ROOT).contains("checksum"));
        assertThat(names).noneMatch(name -> name.equalsIgnoreCase("content-md5"));
    }

    @ParameterizedTest
    @CsvSource({"x-amz-checksum-crc32, AAAAAA==", "x-amz-checksum-crc32c, AAAAAA==",
            "x-amz-checksum-crc64nvme, AAAAAAAAAAA=",
            "x-amz-checksum-sha1, 2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
            "x-amz-checksum-sha256, 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "x-amz-checksum-md5, 1B2M2Y8AsgTpgAmY7PhCfg==",
            "x-amz-checksum-xxhash64, 70bbN1HY6Zk=",
            "Content-MD5, 1B2M2Y8AsgTpgAmY7PhCfg=="})
    void aHeaderOfTheEmptyBodyIsNotOfTheObject(String header, String value) {
        String algorithm = header.substring(header.lastIndexOf('-') + 1);
        for (String path : new String[]{"/b/up", "/b/up?partNumber=1&uploadId=u"}) {
            assertStored(client.put(path, new byte[0], peer.headers(0, SIZE, header, value,
                    "x-amz-sdk-checksum-algorithm", algorithm)));
        }
    }

    @Test
    void aRealSumBesideThatOfTheEmptyBodyIsVerified() {
        HttpResponse<byte[]> answer = client.put("/b/up", new byte[0],
                peer.headers(0, SIZE, "x-amz-checksum-crc32", "AAAAAA==", "Content-MD5",
                        "2B2M2Y8AsgTpgAmY7PhCfg=="));
        assertThat(new String(answer.body())).contains("BadDigest");
        assertThat(store.object("/b/up")).isNull();
    }

    private RawConnection.Answer putInChunks(String query, String body, int decoded) {
        String head = new HandSigned("PUT", "/b/up", query).payload(CHUNKS)
                .header("content-encoding", "aws-chunked")
                .header("content-length", Integer.toString(body.length()))
                .header("x-amz-decoded-content-length", Integer.toString(decoded))
                .header("x-amz-rdma-token", peer.token(0, SIZE).format())
                .header("x-amz-sdk-checksum-algorithm", "CRC64NVME")
                .header("x-amz-trailer", "x-amz-checksum-crc64nvme")
                .head();
        try (RawConnection connection = new RawConnection(gateway.endpoint())) {
            return connection.send(head + body).receive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "partNumber=1&uploadId=u"})
    void aTrailerOfTheEmptyBodyIsNotOfTheObject(String query) {
        assertStored(putInChunks(query, "0\r\nx-amz-checksum-crc64nvme:AAAAAAAAAAA=\r\n\r\n", 0));
    }

    @Test
    void aTrailerOfOtherBytesIsRefused() {
        RawConnection.Answer answer = putInChunks("",
                "0\r\nx-amz-checksum-crc64nvme:AAAAAAAAAAE=\r\n\r\n", 0);
        assertThat(answer.body()).contains("BadDigest");
        assertThat(store.object("/b/up")).isNull();
    }

    @Test
    void chunksWithBytesAreRefused() {
        RawConnection.Answer answer = putInChunks("",
                "1\r\na\r\n0\r\nx-amz-checksum-crc64nvme:AAAAAAAAAAA=\r\n\r\n", 1);
        assertThat(answer.body()).contains("must have an empty body");
        assertThat(store.object("/b/up")).isNull();
    }
}
