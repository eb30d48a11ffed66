package io.railhead.gateway.cluster;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.TestGateway.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.protocol.placement.Ownership;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A member's port for fills refuses what is no question of a member that knows the same. */
class FillPortIT {
    private static final int RUN = 512 << 10;
    private static final byte[] OBJECT = random(1, 4 * RUN);
    private static final String REFUSED = "railhead_cluster_peer_answers_total"
            + "{result=\"refused\",}";
    private static ThreeGateways three;

    @BeforeAll
    static void start() {
        three = new ThreeGateways("""
                cache: {memory: 64MiB, page: 64KiB, run: 512KiB}
                rules: [{freshness: {bounded: 1h}, authorization: {remember: 1h}}]
                """);
        three.store.put("/b/k", OBJECT);
    }

    @AfterAll
    static void stop() {
        three.gateways.forEach(TestGateway::assertNoLease);
        three.close();
    }

    private static JsonObject question(String key, byte[] object, long offset) {
        return JsonObject.of("backend", "store", "bucket", "b", "key", key, "etag",
                FakeStore.etag(object), "held_version_id", "", "size", object.length, "offset",
                offset)
                .put("length", RUN)
                .put("access_key", "AK")
                .put("tenant", "default")
                .put("urgency", "WANTED");
    }

    private static HttpResponse<byte[]> post(String path, String body) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://" + three.fills(0) + path))
                            .POST(HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());
        }
    }

    @Test
    void aMembersQuestionIsAnsweredInThePrincipalsName() throws Exception {
        HttpResponse<byte[]> answer = post(FillPort.PATH, question("k", OBJECT, RUN).encode());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).hasSize(RUN + RUN / (64 << 10) * 8);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "offset | 1 | 400",
            "length | 1048576 | 400",
            "length | 100000 | 400",
            "offset | 99999999 | 400",
            "access_key | nobody | 403",
            "tenant | other | 403",
            "backend | other | 403",
            "urgency | never | 400",
            "etag | | 400",
    })
    void aQuestionThatIsWrongIsRefused(String field, String value, int status) throws Exception {
        JsonObject question = question("k", OBJECT, RUN);
        if (value == null) {
            question.remove(field);
        } else {
            question.put(field, value.matches("[0-9]+") ? Long.valueOf(value) : value);
        }
        double refused = three.gateways.getFirst().metric(REFUSED);
        assertThat(post(FillPort.PATH, question.encode()).statusCode()).isEqualTo(status);
        assertThat(three.gateways.getFirst().metric(REFUSED)).isEqualTo(refused + 1);
    }

    /** The first handshake is not the first reader's. */
    @Test
    void membersOpenAConnectionToEachOtherBeforeAnyRead() {
        for (TestGateway member : three.gateways) {
            await(() -> member.metric("railhead_cluster_peer_answers_total"
                    + "{result=\"greeted\",}") >= 2);
        }
    }

    @Test
    void noiseAndOtherPathsAreRefused() throws Exception {
        assertThat(post(FillPort.PATH, "{").statusCode()).isEqualTo(400);
        assertThat(post(FillPort.PATH, "x".repeat((64 << 10) + 1)).statusCode()).isEqualTo(413);
        assertThat(post("/b/k", "").statusCode()).isEqualTo(404);
    }

    /** The store has another version: nothing is answered, and nothing is cached. */
    @Test
    void bytesOfAnotherVersionAreNotGiven() throws Exception {
        JsonObject question = question("k", OBJECT, 0).put("etag", "\"another\"");
        HttpResponse<byte[]> answer = post(FillPort.PATH, question.encode());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).as("no more comes").isEqualTo(new byte[8]);
    }

    @Test
    void anAskerThatGoesAwayLeavesNothingLeased() throws Exception {
        for (int i = 0; i < 5; i++) {
            try (Socket socket = ask(question("k", OBJECT, 2L * RUN))) {
                assertThat(status(socket)).isEqualTo("200");
            }
        }
        three.gateways.getFirst().assertNoLease();
    }

    /** Slow askers, or a slow store, must not hold the cache's memory. */
    @Test
    void noMoreAreAnsweredThanAnEighthOfTheMemoryHasRuns() throws Exception {
        byte[] object = random(3, 16 * RUN);
        three.store.put("/b/many", object);
        CountDownLatch goOn = new CountDownLatch(1);
        three.store.fault((exchange, _) -> {
            if (exchange.getRequestURI().getPath().endsWith("/many")) {
                await(goOn);
            }
            return false;
        });
        List<Socket> asked = new ArrayList<>();
        List<String> statuses = new ArrayList<>();
        for (int run = 0; run < 16; run++) {
            Socket socket = ask(question("many", object, (long) run * RUN));
            asked.add(socket);
            statuses.add(status(socket));
        }
        goOn.countDown();
        for (Socket each : asked) {
            each.close();
        }
        assertThat(statuses).startsWith("200", "200", "200", "200").endsWith("503");
        await(() -> answers("many", object) == 200);
    }

    private static int answers(String key, byte[] object) {
        try {
            return post(FillPort.PATH, question(key, object, 15L * RUN).encode()).statusCode();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static Socket ask(JsonObject question) throws IOException {
        byte[] body = question.encode().getBytes(UTF_8);
        URI address = URI.create("http://" + three.fills(0));
        Socket socket = new Socket(address.getHost(), address.getPort());
        socket.getOutputStream()
                .write(("POST " + FillPort.PATH + " HTTP/1.1\r\nHost: x\r\n"
                        + "Content-Length: " + body.length + "\r\n\r\n").getBytes(UTF_8));
        socket.getOutputStream().write(body);
        return socket;
    }

    /** Waits until the answer has begun. */
    private static String status(Socket socket) throws IOException {
        return new String(socket.getInputStream().readNBytes(12), UTF_8).substring(9);
    }

    /** Otherwise two members whose views differ would wait for each other. */
    @Test
    void aRunThatIsAskedForAtAnotherMemberIsRefused() throws Exception {
        String key = ownedElsewhere();
        byte[] object = random(2, RUN);
        three.store.put("/b/" + key, object);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        three.store.fault((exchange, _) -> {
            if (exchange.getRequestMethod().equals("GET")
                    && exchange.getRequestURI().getPath().endsWith(key)) {
                asked.countDown();
                await(goOn);
            }
            return false;
        });
        CompletableFuture<HttpResponse<byte[]>> read = three.clients.getFirst()
                .sendAsync("GET", "/b/" + key, new byte[0]);
        await(asked);
        assertThat(post(FillPort.PATH, question(key, object, 0).encode()).statusCode())
                .isEqualTo(409);
        goOn.countDown();
        assertThat(read.join().body()).isEqualTo(object);
    }

    /** A member that owned a run before gives what it has in memory, and asks nobody for more. */
    @Test
    void whatIsHeldIsGivenAndNothingIsFetchedForIt() throws Exception {
        byte[] object = random(4, 2 * RUN);
        three.store.put("/b/held", object);
        JsonObject first = question("held", object, 0);
        assertThat(post(FillPort.HELD_PATH, first.encode()).statusCode()).isEqualTo(404);
        assertThat(three.store.count("GET /b/held ")).isZero();
        HttpResponse<byte[]> filled = post(FillPort.PATH, first.encode());
        assertThat(three.store.count("GET /b/held ")).isOne();
        HttpResponse<byte[]> held = post(FillPort.HELD_PATH, first.encode());
        assertThat(held.statusCode()).isEqualTo(200);
        assertThat(held.body()).hasSizeGreaterThan(RUN).isEqualTo(filled.body());
        assertThat(three.store.count("GET /b/held ")).isOne();
    }

    @Test
    void theHeldPartOfARunIsGivenUpToTheFirstMissingPage() throws Exception {
        int page = 64 << 10;
        byte[] object = random(5, RUN);
        three.store.put("/b/part", object);
        JsonObject start = question("part", object, 0).put("length", 3 * page);
        assertThat(post(FillPort.PATH, start.encode()).statusCode()).isEqualTo(200);
        long asked = three.store.count("GET /b/part ");
        byte[] held = post(FillPort.HELD_PATH, question("part", object, 0).encode()).body();
        assertThat(held).hasSize(3 * (page + 8) + 8).endsWith(new byte[8]);
        JsonObject rest = question("part", object, 3L * page).put("length", RUN - 3 * page);
        assertThat(post(FillPort.HELD_PATH, rest.encode()).statusCode()).isEqualTo(404);
        assertThat(three.store.count("GET /b/part ")).isEqualTo(asked);
    }

    @ParameterizedTest
    @CsvSource({"access_key, nobody, 403", "tenant, other, 403", "backend, other, 403",
            "etag, another, 404"})
    void whatIsHeldIsNotGivenToWhoMayNotReadItHere(String field, String value, int status)
            throws Exception {
        JsonObject question = question("k", OBJECT, 0);
        assertThat(post(FillPort.PATH, question.encode()).statusCode()).isEqualTo(200);
        assertThat(post(FillPort.HELD_PATH, question.encode()).statusCode()).isEqualTo(200);
        HttpResponse<byte[]> answer = post(FillPort.HELD_PATH,
                question.put(field, value).encode());
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.body()).hasSizeLessThan(100);
    }

    private static String ownedElsewhere() {
        for (int i = 0;; i++) {
            long run = Ownership.run("b", "elsewhere" + i, 0);
            if (Long.compareUnsigned(Ownership.score(Ownership.member("g0"), run),
                    Ownership.score(Ownership.member("g1"), run)) < 0) {
                return "elsewhere" + i;
            }
        }
    }

    /** The S3 port knows nothing of it. */
    @Test
    void theS3PortHasNoSuchPath() throws IOException {
        assertThat(three.clients.getFirst()
                .send("POST", FillPort.PATH, question("k", OBJECT, 0).encode().getBytes(UTF_8))
                .statusCode()).isBetween(400, 499);
    }
}
