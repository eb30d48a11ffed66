package io.railhead.gateway.object.read;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.S3ProxyProcess;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestRange;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Objects through the gateway over a real store. */
class ObjectsIT {
    private static final S3ProxyProcess store = new S3ProxyProcess(
            Path.of("target/s3proxy/s3proxy.jar"));
    @RegisterExtension
    private static final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 256MiB
            rules:
              - bucket: frozen
                freshness: immutable
            """).principals("""
            principals:
              - name: trainer
                keys: [{access_key: AKTRAINER, secret_key: trainer-secret}]
                backend_credential: {access_key: %s, secret_key: %s}
                rdma_put: true
            """.formatted(store.credential().accessKey(), store.credential().secretKey()));
    private static final TestClient client = gateway.client("AKTRAINER", "trainer-secret");

    @BeforeAll
    static void start() {
        assertThat(client.put("/data", new byte[0]).statusCode()).isEqualTo(200);
        assertThat(client.put("/frozen", new byte[0]).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4095, 4096, 4097, 65_537, 262_144, 262_145, 8 << 20, (8 << 20) + 1,
            20_000_001})
    void anObjectComesBackAsItWasPutColdAndHeld(int bytes) {
        String path = "/data/size-" + bytes;
        byte[] object = random(bytes);
        assertThat(client.put(path, object).statusCode()).isEqualTo(200);

        HttpResponse<byte[]> cold = client.get(path);
        HttpResponse<byte[]> held = client.get(path);

        assertThat(cold.statusCode()).isEqualTo(200);
        assertThat(cold.body()).isEqualTo(object);
        assertThat(held.statusCode()).isEqualTo(200);
        assertThat(held.body()).isEqualTo(object);
        assertThat(held.headers().firstValue("x-cache")).contains("REVALIDATED");
        assertThat(held.headers().firstValue("etag")).isEqualTo(cold.headers().firstValue("etag"));
    }

    @Test
    void anImmutableObjectIsServedWithoutAsking() {
        client.put("/frozen/a", random(100_000));
        assertThat(client.get("/frozen/a").headers().firstValue("x-cache")).contains("MISS");
        assertThat(client.get("/frozen/a").headers().firstValue("x-cache")).contains("HIT");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=0-0", "bytes=5-9", "bytes=262143-262145", "bytes=299990-",
            "bytes=-7",
            "bytes=0-9999999", "bytes=-9999999"})
    void aRangeIsCutOutOfTheObject(String range) {
        byte[] object = random(300_000);
        client.put("/data/ranged", object);
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> answer = client.get("/data/ranged", "Range", range);
            String contentRange = answer.headers().firstValue("content-range").orElseThrow();
            int from = Integer.parseInt(contentRange.replaceAll("bytes (\\d+)-.*", "$1"));
            int last = Integer.parseInt(contentRange.replaceAll("bytes \\d+-(\\d+)/.*", "$1"));
            assertThat(answer.statusCode()).isEqualTo(206);
            assertThat(contentRange).endsWith("/300000");
            assertThat(answer.body()).isEqualTo(Arrays.copyOfRange(object, from, last + 1));
        }
    }

    @Test
    void aRangePastTheEndIsRefused() {
        client.put("/data/short", random(10));
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> answer = client.get("/data/short", "Range", "bytes=10-20");
            assertThat(answer.statusCode()).isEqualTo(416);
            assertThat(new String(answer.body())).contains("<Code>InvalidRange</Code>");
        }
    }

    @Test
    void aWriteThroughTheGatewayIsSeenByTheNextRead() {
        client.put("/data/changing", random(1000));
        assertThat(client.get("/data/changing").body()).isEqualTo(random(1000));
        client.put("/data/changing", random(2000));
        assertThat(client.get("/data/changing").body()).isEqualTo(random(2000));
        client.delete("/data/changing");
        HttpResponse<byte[]> gone = client.get("/data/changing");
        assertThat(gone.statusCode()).isEqualTo(404);
        assertThat(new String(gone.body())).contains("<Code>NoSuchKey</Code>");
    }

    @Test
    void aWriteBehindTheGatewayIsSeenByTheNextStrongRead() {
        TestClient direct = new TestClient(store.endpoint(), store.credential().accessKey(),
                store.credential().secretKey());
        client.put("/data/behind", random(1000));
        assertThat(client.get("/data/behind").body()).isEqualTo(random(1000));
        direct.put("/data/behind", random(3000));
        assertThat(client.get("/data/behind").body()).isEqualTo(random(3000));
    }

    @Test
    void headersAndMetadataOfTheObjectAreKept() {
        client.put("/data/described", random(10), "Content-Type", "text/x-model",
                "x-amz-meta-epoch", "7");
        for (int round = 0; round < 3; round++) {
            HttpResponse<byte[]> answer = client.get("/data/described");
            assertThat(answer.headers().firstValue("content-type")).contains("text/x-model");
            assertThat(answer.headers().firstValue("x-amz-meta-epoch")).contains("7");
            assertThat(answer.headers().firstValue("last-modified")).isPresent();
            assertThat(answer.headers().firstValue("x-amz-request-id")).isPresent();
            assertThat(answer.headers().allValues("date")).hasSize(1);
        }
        HttpResponse<byte[]> head = client.head("/data/described");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("content-length")).contains("10");
        assertThat(head.headers().firstValue("x-amz-meta-epoch")).contains("7");
    }

    @Test
    void conditionsAreJudged() {
        client.put("/data/conditional", random(10));
        String etag = client.get("/data/conditional").headers().firstValue("etag").orElseThrow();
        assertThat(client.get("/data/conditional", "If-Match", etag).statusCode()).isEqualTo(200);
        assertThat(client.get("/data/conditional", "If-Match", "\"other\"").statusCode())
                .isEqualTo(412);
        assertThat(client.get("/data/conditional", "If-None-Match", etag).statusCode())
                .isEqualTo(304);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a%20b", "a+b", "%E2%82%AC", "x/%2F/y", "semi;colon", "q%3Fmark",
            "tilde~", "per%25cent"})
    void aKeyIsTakenByteForByte(String rawKey) {
        assertThat(client.put("/data/" + rawKey, random(33)).statusCode()).isEqualTo(200);
        for (int round = 0; round < 2; round++) {
            assertThat(client.get("/data/" + rawKey).body()).isEqualTo(random(33));
        }
    }

    @Test
    void bucketsAreListed() {
        client.put("/data/listed/one", random(1));
        HttpResponse<byte[]> answer = client.get("/data?list-type=2&prefix=listed%2F");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(new String(answer.body())).contains("<Key>listed/one</Key>");
    }

    @Test
    void aMultipartUploadReplacesWhatWasHeld() {
        client.put("/data/parts", random(10));
        client.get("/data/parts");
        String created = new String(client.send("POST", "/data/parts?uploads", new byte[0]).body());
        String uploadId = created.replaceAll("(?s).*<UploadId>(.*)</UploadId>.*", "$1");
        byte[] first = random(5 << 20);
        byte[] second = random(77);
        StringBuilder complete = new StringBuilder("<CompleteMultipartUpload>");
        int number = 1;
        for (byte[] part : new byte[][]{first, second}) {
            HttpResponse<byte[]> answer = client
                    .put("/data/parts?partNumber=" + number + "&uploadId=" + uploadId, part);
            assertThat(answer.statusCode()).isEqualTo(200);
            complete.append("<Part><PartNumber>")
                    .append(number++)
                    .append("</PartNumber><ETag>")
                    .append(answer.headers().firstValue("etag").orElseThrow())
                    .append("</ETag></Part>");
        }
        byte[] document = complete.append("</CompleteMultipartUpload>").toString().getBytes();
        assertThat(client.send("POST", "/data/parts?uploadId=" + uploadId, document).statusCode())
                .isEqualTo(200);

        byte[] whole = client.get("/data/parts").body();

        assertThat(whole).hasSize(first.length + second.length);
        assertThat(Arrays.copyOf(whole, first.length)).isEqualTo(first);
    }

    @Test
    void partsOverTheChannelBecomeOneObject() {
        String created = new String(
                client.send("POST", "/data/native%20parts?uploads", new byte[0]).body());
        String uploadId = created.replaceAll("(?s).*<UploadId>(.*)</UploadId>.*", "$1");
        byte[] bytes = random((5 << 20) + 77);
        StringBuilder complete = new StringBuilder("<CompleteMultipartUpload>");
        try (TestPeer peer = new TestPeer(client, "trainer-secret", 8 << 20)) {
            peer.set(0, bytes);
            for (int number = 1; number <= 2; number++) {
                long offset = number == 1 ? 0 : 5 << 20;
                Answer answer = peer.ask(new Request(0, RequestOperation.UPLOAD_PART,
                        RequestRange.ALL, peer.key(), offset, number == 1 ? 5 << 20 : 77, number,
                        "data", "native parts", "", "", uploadId, Map.of()));
                assertThat(answer.status()).as("%s", answer).isEqualTo(200);
                complete.append("<Part><PartNumber>")
                        .append(number)
                        .append("</PartNumber><ETag>")
                        .append(answer.etag())
                        .append("</ETag></Part>");
            }
            byte[] document = complete.append("</CompleteMultipartUpload>").toString().getBytes();
            assertThat(client.send("POST", "/data/native%20parts?uploadId=" + uploadId, document)
                    .statusCode()).isEqualTo(200);
            peer.fill(0);
            Answer whole = peer
                    .ask(Request.get(0, "data", "native parts", peer.key(), 0, 8 << 20));
            assertThat(whole.bytesMoved()).isEqualTo(bytes.length);
            assertThat(peer.bytes(0, bytes.length)).isEqualTo(bytes);
        }
    }

    @Test
    void deletingManyForgetsThemAll() {
        client.put("/data/many1", random(10));
        client.get("/data/many1");
        byte[] document = "<Delete><Object><Key>many1</Key></Object></Delete>".getBytes();
        HttpResponse<byte[]> deleted = client.send("POST", "/data?delete", document, "Content-MD5",
                md5(document));
        assertThat(deleted.statusCode()).isEqualTo(200);
        assertThat(client.get("/data/many1").statusCode()).isEqualTo(404);
    }

    private static String md5(byte[] document) {
        try {
            return Base64.getEncoder()
                    .encodeToString(
                            MessageDigest.getInstance("MD5").digest(document));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
