package io.railhead.gateway.rdma;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.RdmaClients.Verdict.ASKS_AGAIN;
import static io.railhead.gateway.RdmaClients.Verdict.FAILS;
import static io.railhead.gateway.RdmaClients.Verdict.TAKES_BODY;
import static io.railhead.gateway.RdmaClients.Verdict.TAKES_MEMORY;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RdmaClients;
import io.railhead.gateway.RdmaClients.Asked;
import io.railhead.gateway.RdmaClients.Form;
import io.railhead.gateway.RdmaClients.Reading;
import io.railhead.gateway.RdmaClients.Verdict;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.token.Token;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every known client, each by its own reading of the answer: it takes its memory for the object
 * exactly when the object is there, in whatever way it asked and however it ended.
 *
 * <p> A long class: one table of clients against every end that a request can have.
 */
class RdmaConformanceIT {
    private static final int BUFFER = 8 << 20;
    private static final int MARK = 0x5a;
    private static final int FROM = 4000;
    private static final int PART = 1_500_000;
    private static final byte[] OBJECT = random(4_000_001);
    private static final Map<RdmaClients, Verdict> WHEN_A_READ_IS_DECLINED = Map.ofEntries(
            Map.entry(RdmaClients.MINIO, ASKS_AGAIN),
            Map.entry(RdmaClients.MINIO_SUFFIXED, ASKS_AGAIN),
            Map.entry(RdmaClients.MINIO_RS, FAILS),
            Map.entry(RdmaClients.NIXL, FAILS),
            Map.entry(RdmaClients.NIXL_EVERPURE, FAILS),
            Map.entry(RdmaClients.NIXL_DELL, FAILS),
            Map.entry(RdmaClients.MULTI_STORAGE_CLIENT, FAILS),
            Map.entry(RdmaClients.CLOUDIAN, TAKES_BODY),
            Map.entry(RdmaClients.DELL_SPT, TAKES_BODY),
            Map.entry(RdmaClients.AWS_C_S3, TAKES_BODY),
            Map.entry(RdmaClients.NOOBAA, FAILS),
            Map.entry(RdmaClients.VERSITY, FAILS));
    private static final Map<RdmaClients, Verdict> WHEN_AN_UPLOAD_IS_DECLINED = Map.of(
            RdmaClients.MINIO, ASKS_AGAIN, RdmaClients.MINIO_SUFFIXED, ASKS_AGAIN,
            RdmaClients.MINIO_RS, ASKS_AGAIN);

    private final CountDownLatch release = new CountDownLatch(1);
    private final List<Map<String, List<String>>> stored = new ArrayList<>();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(config("40s", "50s"))
            .principals(TestGateway.UPLOADER);
    private final TestClient client = gateway.client();
    private TestPeer peer;

    @BeforeEach
    void begin() {
        store.header("x-amz-meta-epoch", "seven");
        store.header("x-amz-checksum-crc32", "AAAAAA==");
        for (String bucket : List.of("held", "b", "plain", "stalls", "passing")) {
            store.put("/" + bucket + "/object", OBJECT);
        }
        store.parts("/b/object", PART);
        store.parts("/plain/object", PART);
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
    }

    private static String config(String decide, String fence) {
        return """
                rdma:
                  decide_timeout: %s
                  fence_timeout: %s
                  dialects: {rdma_info: on, cuobj: on}
                cache:
                  memory: 128MiB
                rules:
                  - bucket: held
                    freshness: immutable
                  - bucket: plain
                    rdma: off
                  - bucket: passing
                    cache: off
                """.formatted(decide, fence);
    }

    private void restart(String decide, String fence) {
        peer.close();
        gateway.restart(config(decide, fence));
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
    }

    @AfterEach
    void stop() {
        release.countDown();
    }

    static Stream<Arguments> everyRead() {
        return Stream.of(Form.values())
                .flatMap(form -> Stream.of("", "bytes=0-" + (OBJECT.length - 1), "bytes=7-1000006")
                        .map(range -> Arguments.of(form, range)));
    }

    // ---- what is asked

    private String[] headers(Form form, long bytes, String... more) {
        return headers(form, peer.token(0, BUFFER), peer.token(FROM, bytes), more);
    }

    private static String[] headers(Form form, Token buffer, Token token, String... more) {
        String[] offer = switch (form) {
            case AMZ -> new String[]{"x-amz-rdma-token", token.format()};
            case AMZ_SUFFIXED -> new String[]{"x-amz-rdma-token", buffer.format() + ":"
                    + hex(token.address()) + ":" + hex(token.length())};
            case RDMA_INFO -> new String[]{"x-rdma-info", token.format()};
            case CUOBJ -> new String[]{"x-cuobj-rdma-descr", buffer.format(),
                    "x-cuobj-content-length", Long.toString(token.length()),
                    "x-cuobj-remote-buf-start", Long.toUnsignedString(token.address())};
        };
        return Stream.of(offer, new String[]{"x-railhead-request-id", UUID.randomUUID().toString()},
                more).flatMap(Arrays::stream).toArray(String[]::new);
    }

    private static String hex(long value) {
        return HexFormat.of().toHexDigits(value);
    }

    private static String[] ranged(String range) {
        return range.isEmpty() ? new String[0] : new String[]{"Range", range};
    }

    private static byte[] expected(String range) {
        return range.startsWith("bytes=7") ? Arrays.copyOfRange(OBJECT, 7, 1_000_007) : OBJECT;
    }

    private HttpResponse<byte[]> read(String path, Form form, String range) {
        peer.fill(MARK);
        return client.get(path, headers(form, expected(range).length, ranged(range)));
    }

    private static Stream<RdmaClients> senders(Form form, String range) {
        return Stream.of(RdmaClients.values())
                .filter(known -> known.sends(form, !range.isEmpty()));
    }

    // ---- what is heard

    private void assertDelivered(HttpResponse<byte[]> answer, Form form, String range) {
        byte[] expected = expected(range);
        int status = range.isEmpty() ? 200 : 206;
        assertReply(answer, status, expected.length);
        assertThat(answer.headers().firstValue("x-amz-meta-epoch")).contains("seven");
        assertThat(answer.headers().firstValue("etag")).contains(FakeStore.etag(OBJECT));
        assertThat(answer.headers().firstValue("last-modified")).isPresent();
        assertThat(answer.headers().map().keySet())
                .noneMatch(name -> name.startsWith("x-amz-checksum-"));
        assertMemory(expected);
        senders(form, range).forEach(known -> assertThat(
                known.get(new Asked(expected.length), new Reading(answer)))
                .as("%s reads %s", known, answer)
                .isEqualTo(TAKES_MEMORY));
    }

    private static void assertReply(HttpResponse<byte[]> answer, int status, long bytes) {
        assertThat(answer.statusCode()).as("%s", new String(answer.body())).isEqualTo(status);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).contains("" + status);
        assertThat(answer.headers().firstValue("x-amz-rdma-bytes-transferred"))
                .contains("" + bytes);
        assertThat(answer.headers().firstValue("content-length")).contains("0");
        assertThat(answer.body()).isEmpty();
    }

    private void assertMemory(byte[] expected) {
        assertThat(peer.bytes(FROM, expected.length)).isEqualTo(expected);
        assertThat(peer.bytes(0, FROM)).containsOnly(MARK);
        assertThat(peer.bytes(FROM + expected.length, 4096)).containsOnly(MARK);
    }

    private void assertNobodyTakesMemory(HttpResponse<byte[]> answer, Form form, String range) {
        assertThat(answer.headers().firstValue("x-amz-rdma-bytes-transferred")).isEmpty();
        senders(form, range).forEach(known -> {
            assertThat(known.get(new Asked(expected(range).length), new Reading(answer)))
                    .as("%s reads %s", known, answer)
                    .isEqualTo(FAILS);
        });
    }

    // ---- reads

    @ParameterizedTest
    @MethodSource("everyRead")
    void everyClientFindsWhatItAskedForInItsMemory(Form form, String range) {
        for (String path : List.of("/held/object", "/b/object", "/passing/object")) {
            for (int round = 0; round < 3; round++) {
                assertDelivered(read(path, form, range), form, range);
            }
        }
        assertThat(gateway.metric("railhead_rdma_requests_total{dialect=\""
                + (form == Form.AMZ_SUFFIXED
                        ? "amz"
                        : form.name()
                                .toLowerCase(
                                        Locale.ROOT))
                + "\",result=\"delivered\",}")).isEqualTo(9);
    }

    @ParameterizedTest
    @MethodSource("everyRead")
    void aDeclinedReadIsToldAsEachClientUnderstandsIt(Form form, String range) {
        HttpResponse<byte[]> answer = read("/plain/object", form, range);
        assertThat(peer.isAll(MARK)).isTrue();
        assertThat(answer.headers().firstValue("x-railhead-rdma-declined")).contains("rule");
        assertThat(gateway.metric("railhead_rdma_declined_total{reason=\"rule\",}")).isEqualTo(1);
        senders(form, range).forEach(known -> {
            Verdict verdict = known.get(new Asked(expected(range).length), new Reading(answer));
            assertThat(verdict).as("%s reads %s", known, answer)
                    .isEqualTo(WHEN_A_READ_IS_DECLINED.get(known));
            if (verdict == TAKES_BODY) {
                assertThat(answer.body()).isEqualTo(expected(range));
            }
        });
    }

    /** All at once, since each takes as long as the deadline. */
    @Test
    void aReadThatBreaksOffInTheMiddleIsAnErrorToEveryClient() {
        restart("8s", "10s");
        store.fault((exchange, _) -> exchange.getRequestMethod().equals("GET")
                && stallsInTheMiddle(exchange));
        List<Stalled> reads = Stream.of("/stalls/object", "/passing/object")
                .flatMap(path -> Stream.of(Form.values())
                        .flatMap(form -> Stream.of("", "bytes=0-" + (OBJECT.length - 1))
                                .map(range -> new Stalled(path, form, range))))
                .toList();
        try (TestPeer large = new TestPeer(client, "SK", (long) reads.size() * OBJECT.length)) {
            Token buffer = large.token(0, (long) reads.size() * OBJECT.length);
            large.fill(MARK);
            List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
            for (Stalled read : reads) {
                Token token = large.token((long) answers.size() * OBJECT.length, OBJECT.length);
                answers.add(client.sendAsync("GET", read.path, new byte[0],
                        headers(read.form, buffer, token, ranged(read.range))));
            }
            for (int i = 0; i < reads.size(); i++) {
                HttpResponse<byte[]> answer = answers.get(i).join();
                assertThat(answer.statusCode())
                        .as("%s: %s", reads.get(i), new String(answer.body()))
                        .isEqualTo(500);
                assertThat(answer.headers().firstValue("x-amz-rdma-reply")).isEmpty();
                assertThat(large.bytes((long) i * OBJECT.length, 1000))
                        .isEqualTo(Arrays.copyOf(OBJECT, 1000));
                assertNobodyTakesMemory(answer, reads.get(i).form, reads.get(i).range);
            }
            large.fill(MARK);
            store.fault((exchange, object) -> false);
            release.countDown();
            assertThat(client.get("/stalls/object").body()).isEqualTo(OBJECT);
            assertThat(client.get("/passing/object").body()).isEqualTo(OBJECT);
            assertThat(large.isAll(MARK)).as("nothing is written after the answer").isTrue();
        }
    }

    private record Stalled(String path, Form form, String range) {}

    private boolean stallsInTheMiddle(HttpExchange exchange) {
        try {
            exchange.getResponseHeaders().set("ETag", FakeStore.etag(OBJECT));
            boolean ranged = exchange.getRequestHeaders().containsKey("Range");
            if (ranged) {
                exchange.getResponseHeaders()
                        .set("Content-Range",
                                "bytes 0-" + (OBJECT.length - 1) + "/" + OBJECT.length);
            }
            exchange.sendResponseHeaders(ranged ? 206 : 200, OBJECT.length);
            exchange.getResponseBody().write(OBJECT, 0, OBJECT.length / 2);
            exchange.getResponseBody().flush();
            release.await();
            exchange.getResponseBody().write(OBJECT, OBJECT.length / 2, OBJECT.length / 2 + 1);
        } catch (IOException e) {
            // The gateway has given up, as it may.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    @ParameterizedTest
    @MethodSource("everyRead")
    void whatTheStoreRefusesIsAnErrorToEveryClient(Form form, String range) {
        HttpResponse<byte[]> answer = read("/b/nothing", form, range);
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(new String(answer.body())).contains("NoSuchKey");
        assertThat(peer.isAll(MARK)).isTrue();
        assertNobodyTakesMemory(answer, form, range);
    }

    @Test
    void anObjectLargerThanTheWindowIsClippedForEveryForm() {
        for (Form form : Form.values()) {
            peer.fill(MARK);
            HttpResponse<byte[]> answer = client.get("/held/object", headers(form, 100_000));
            assertReply(answer, 206, 100_000);
            assertThat(answer.headers().firstValue("content-range"))
                    .contains("bytes 0-99999/" + OBJECT.length);
            assertMemory(Arrays.copyOf(OBJECT, 100_000));
        }
    }

    @ParameterizedTest
    @MethodSource("everyRead")
    void whatNeitherFitsNorIsHeldIsDeclined(Form form, String range) {
        peer.fill(MARK);
        HttpResponse<byte[]> answer = client.get("/passing/object",
                headers(form, 1000, ranged(range)));
        assertThat(answer.headers().firstValue("x-railhead-rdma-declined")).contains("window");
        assertThat(peer.isAll(MARK)).isTrue();
        senders(form, range).forEach(known -> {
            Verdict verdict = known.get(new Asked(1000), new Reading(answer));
            assertThat(verdict).as("%s reads %s", known, answer)
                    .isEqualTo(WHEN_A_READ_IS_DECLINED.get(known));
            if (verdict == TAKES_BODY) {
                assertThat(answer.body()).isEqualTo(expected(range));
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/held/empty", "/passing/empty"})
    void anEmptyObjectMovesNothingAndSaysSo(String path) {
        store.put(path, new byte[0]);
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> answer = client.get(path, headers(Form.AMZ, 1000));
            assertReply(answer, 200, 0);
            Reading reading = new Reading(answer);
            assertThat(RdmaClients.MINIO.get(new Asked(0), reading)).isEqualTo(ASKS_AGAIN);
            assertThat(RdmaClients.DELL_SPT.get(new Asked(0), reading)).isEqualTo(TAKES_MEMORY);
        }
    }

    @Test
    void aPartIsAPartialAnswerThatTellsTheObjectsSize() {
        for (int number = 1; number <= 3; number++) {
            int from = (number - 1) * PART;
            int to = Math.min(OBJECT.length, number * PART);
            peer.fill(MARK);
            HttpResponse<byte[]> answer = client.get("/b/object?partNumber=" + number,
                    headers(Form.AMZ, PART));
            assertReply(answer, 206, to - from);
            assertThat(answer.headers().firstValue("content-range"))
                    .contains("bytes " + from + "-" + (to - 1) + "/" + OBJECT.length);
            assertThat(answer.headers().firstValue("x-amz-mp-parts-count")).contains("3");
            assertMemory(Arrays.copyOfRange(OBJECT, from, to));
            assertThat(RdmaClients.AWS_C_S3.get(new Asked(PART), new Reading(answer)))
                    .isEqualTo(TAKES_MEMORY);
        }
    }

    @Test
    void aPartThatDoesNotFitIsClippedToo() {
        HttpResponse<byte[]> answer = client.get("/b/object?partNumber=2",
                headers(Form.AMZ, 1000));
        assertReply(answer, 206, 1000);
        assertThat(answer.headers().firstValue("content-range"))
                .contains("bytes " + PART + "-" + (PART + 999) + "/" + OBJECT.length);
    }

    /** The client asked for a part of whatever is there, and knows of no ETag. */
    @Test
    void aPartOfAnObjectThatChangesMeanwhileIsTheNewOnes() {
        byte[] changed = new byte[OBJECT.length];
        new Random(99).nextBytes(changed);
        store.fault((exchange, _) -> {
            // This answer is the old one's still.
            store.put("/b/object", changed);
            return false;
        });
        peer.fill(MARK);
        HttpResponse<byte[]> answer = client.get("/b/object?partNumber=2",
                headers(Form.AMZ, PART));
        assertReply(answer, 206, PART);
        assertThat(answer.headers().firstValue("etag")).contains(FakeStore.etag(changed));
        assertMemory(Arrays.copyOfRange(changed, PART, 2 * PART));
    }

    @Test
    void thePartOfAnObjectWithoutPartsIsAllOfIt() {
        HttpResponse<byte[]> whole = client.get("/held/object?partNumber=1",
                headers(Form.AMZ, OBJECT.length));
        assertReply(whole, 206, OBJECT.length);
        HttpResponse<byte[]> none = client.get("/b/object?partNumber=4",
                headers(Form.AMZ, OBJECT.length));
        assertThat(none.statusCode()).isEqualTo(416);
        assertThat(new Reading(none).hasReply()).isFalse();
    }

    @Test
    void checksumsComeOnlyToThoseWhoAsk() {
        HttpResponse<byte[]> answer = client.get("/held/object",
                headers(Form.AMZ, OBJECT.length, "x-amz-checksum-mode", "ENABLED"));
        assertReply(answer, 200, OBJECT.length);
        assertThat(answer.headers().firstValue("x-amz-checksum-crc32")).contains("AAAAAA==");
    }

    @Test
    void aHeadWithATokenIsAPlainHead() {
        for (Form form : Form.values()) {
            HttpResponse<byte[]> head = client.head("/held/object", headers(form, 1000));
            assertThat(head.statusCode()).isEqualTo(200);
            assertThat(head.headers().firstValue("content-length")).contains("" + OBJECT.length);
            assertThat(new Reading(head).hasReply()).isFalse();
        }
    }

    // ---- uploads

    private HttpResponse<byte[]> upload(String path, Form form, byte[] bytes, String... more) {
        peer.set(FROM, bytes);
        return client.put(path, new byte[0], headers(form, bytes.length, more));
    }

    @Test
    void everyClientLearnsThatItsUploadIsStored() {
        store.fault((exchange, body) -> {
            stored.add(Map.copyOf(exchange.getRequestHeaders()));
            return false;
        });
        for (Form form : Form.values()) {
            byte[] bytes = random(2_000_000 + form.name().length());
            String path = "/b/up-" + form;
            HttpResponse<byte[]> answer = upload(path, form, bytes, "x-amz-content-sha256",
                    "UNSIGNED-PAYLOAD", "Content-Type", "application/octet-stream",
                    "x-amz-checksum-algorithm", "CRC64NVME");
            assertReply(answer, 200, bytes.length);
            assertThat(answer.headers().firstValue("etag")).contains(FakeStore.etag(bytes));
            assertThat(store.object(path)).isEqualTo(bytes);
            assertEveryoneThinksItStored(form, bytes, answer);

            HttpResponse<byte[]> part = upload(path + "?partNumber=7&uploadId=u", form, bytes);
            assertReply(part, 200, bytes.length);
            assertEveryoneThinksItStored(form, bytes, part);
        }
        assertThat(stored).hasSize(2 * Form.values().length)
                .allSatisfy(headers -> assertThat(headers.keySet()).noneMatch(
                        name -> name.toLowerCase(Locale.ROOT).contains("rdma")
                                || name.equalsIgnoreCase("x-amz-checksum-algorithm")
                                || name.toLowerCase(Locale.ROOT).contains("cuobj")));
    }

    private static void assertEveryoneThinksItStored(Form form, byte[] bytes,
            HttpResponse<byte[]> answer) {
        Stream.of(RdmaClients.values())
                .filter(known -> known.sends(form, false) || known.sends(form, true))
                .forEach(known -> assertThat(
                        known.put(new Asked(bytes.length), new Reading(answer)))
                        .as("%s reads %s", known, answer)
                        .isEqualTo(TAKES_MEMORY));
    }

    private static void assertNobodyThinksItStored(Form form, HttpResponse<byte[]> answer,
            Map<RdmaClients, Verdict> exceptions) {
        assertThat(answer.headers().firstValue("etag")).isEmpty();
        Stream.of(RdmaClients.values())
                .filter(known -> known.sends(form, false) || known.sends(form, true))
                .forEach(known -> assertThat(known.put(new Asked(1000), new Reading(answer)))
                        .as("%s reads %s", known, answer)
                        .isEqualTo(exceptions.getOrDefault(known, FAILS)));
    }

    @Test
    void aDeclinedUploadStoresNothingAndNobodyThinksItDid() {
        for (Form form : Form.values()) {
            for (String path : List.of("/plain/never", "/plain/never?partNumber=1&uploadId=u")) {
                HttpResponse<byte[]> answer = upload(path, form, random(1000));
                assertThat(answer.statusCode()).isEqualTo(501);
                assertThat(answer.headers().firstValue("x-railhead-rdma-declined"))
                        .contains("rule");
                assertNobodyThinksItStored(form, answer, WHEN_AN_UPLOAD_IS_DECLINED);
            }
        }
        assertThat(store.count("PUT")).isZero();
    }

    @Test
    void anUploadWhoseChecksumIsOfOtherBytesStoresNothing() {
        for (String checksum : List.of("x-amz-checksum-crc32=AAAAAQ==",
                "x-amz-checksum-crc32c=AAAAAQ==", "x-amz-checksum-crc64nvme=AAAAAAAAAAE=",
                "x-amz-checksum-sha1=3jmj7l5rSw0yVb/vlWAYkK/YBwk=",
                "x-amz-checksum-sha256=57DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                "Content-MD5=2B2M2Y8AsgTpgAmY7PhCfg==")) {
            String[] header = checksum.split("=", 2);
            HttpResponse<byte[]> answer = upload("/b/never", Form.AMZ, random(1000), header[0],
                    header[1]);
            assertThat(answer.statusCode()).as(checksum).isEqualTo(400);
            assertThat(new String(answer.body())).contains("BadDigest");
            assertNobodyThinksItStored(Form.AMZ, answer, Map.of());
            assertThat(store.object("/b/never")).isNull();
        }
    }

    @Test
    void aSignedDigestIsOfTheMemoryUnlessItIsThatOfNothing() {
        byte[] bytes = random(1000);
        HttpResponse<byte[]> ofTheBody = upload("/b/signed", Form.AMZ, bytes);
        assertReply(ofTheBody, 200, 1000);
    }

    @Test
    void anUploadThatTheStoreRefusesIsAnErrorToEveryClient() {
        store.fault((exchange, body) -> {
            try {
                exchange.sendResponseHeaders(500, -1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return true;
        });
        for (Form form : Form.values()) {
            HttpResponse<byte[]> answer = upload("/b/never", form, random(1000));
            assertThat(answer.statusCode()).isEqualTo(500);
            assertNobodyThinksItStored(form, answer, Map.of());
        }
    }

    @Test
    void anUploadThatBreaksOffInTheMiddleStoresNothing() {
        store.fault((exchange, body) -> {
            TestGateway.await(release);
            return true;
        });
        restart("1s", "2s");
        byte[] bytes = random(1000);
        peer.set(FROM, bytes);
        Map<Form, CompletableFuture<HttpResponse<byte[]>>> answers = new EnumMap<>(Form.class);
        for (Form form : Form.values()) {
            answers.put(form, client.sendAsync("PUT", "/b/never", new byte[0],
                    headers(form, bytes.length)));
        }
        for (Form form : Form.values()) {
            HttpResponse<byte[]> answer = requireNonNull(answers.get(form)).join();
            assertThat(answer.statusCode()).isBetween(500, 503);
            assertNobodyThinksItStored(form, answer, Map.of());
        }
    }

    @Test
    void anUploadWithATokenAndABodyIsNeither() {
        HttpResponse<byte[]> answer = client.put("/b/never", new byte[]{1, 2, 3},
                headers(Form.AMZ, 1000));
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(new String(answer.body())).contains("<Code>InvalidRequest</Code>");
        assertNobodyThinksItStored(Form.AMZ, answer, Map.of());
        assertThat(store.count("PUT")).isZero();
    }
}
