package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is answered out of memory at once says, counts and orders what any other answer does. */
class HitsIT {
    private static final List<String> OF_ONE_ANSWER = List.of("connection", "date",
            "x-amz-request-id",
            "x-railhead-request-id");

    /** Longer than a reader who reads lets pass. */
    private static final Duration IDLE = Duration.ofSeconds(3);

    private final CountDownLatch release = new CountDownLatch(1);
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              idle_timeout: %dms
            rules:
              - bucket: held
                freshness: immutable
                authorization: {remember: 1h}
            log:
              access: {file: access.log}
            """.formatted(IDLE.toMillis()));
    private final TestClient client = gateway.client();

    @AfterEach
    void stop() {
        release.countDown();
    }

    private String hold(String path, int bytes) {
        byte[] object = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            object[i] = (byte) ('a' + i % 23);
        }
        store.put(path, object);
        assertThat(client.get(path).headers().firstValue("x-cache")).contains("MISS");
        return new String(object, StandardCharsets.US_ASCII);
    }

    private String get(String path, String... headers) {
        return RawConnection.head(client.signed("GET", path, new byte[0], headers)) + "\r\n";
    }

    private static Map<String, String> lasting(RawConnection.Answer answer) {
        Map<String, String> lasting = new TreeMap<>(answer.headers());
        lasting.keySet().removeAll(OF_ONE_ANSWER);
        return lasting;
    }

    /** Around what is copied, a page, and what is answered at once at all. */
    @ParameterizedTest
    @CsvSource({"1,", "1000,", "8192,", "8193,", "262143,", "262144,", "262145,", "1000000,",
            "1000,bytes=10-19", "1000,bytes=-1", "300000,bytes=250000-299999",
            "300000,bytes=262144-", "300000,bytes=10-9999999"})
    void aHitSaysWhatTheFirstAnswerSaid(int bytes, String range) {
        String object = hold("/held/object", bytes);
        String[] headers = range == null ? new String[0] : new String[]{"Range", range};
        try (RawConnection raw = new RawConnection(gateway.endpoint());
                RawConnection ending = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer hit = raw.send(get("/held/object", headers)).receive();
            RawConnection.Answer last = ending.send(
                    RawConnection.head(client.signed("GET", "/held/object", new byte[0], headers),
                            "Connection: close") + "\r\n")
                    .receive();
            assertThat(hit.headers()).containsEntry("x-cache", "HIT");
            assertThat(hit.status()).isEqualTo(range == null ? 200 : 206)
                    .isEqualTo(last.status());
            assertThat(hit.body()).isEqualTo(last.body()).isSubstringOf(object);
            assertThat(lasting(hit)).isEqualTo(lasting(last)).containsKey("etag");
            assertThat(hit.headers().get("x-amz-request-id"))
                    .isEqualTo(hit.headers().get("x-railhead-request-id"))
                    .hasSize(16);
        }
    }

    @Test
    void hitsBehindAMissWaitForItsAnswer() {
        String held = hold("/held/object", 1000);
        store.put("/held/cold", "cold".getBytes(StandardCharsets.US_ASCII));
        store.fault((exchange, body) -> {
            if (exchange.getRequestURI().getPath().endsWith("cold")) {
                TestGateway.await(release);
            }
            return false;
        });
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(get("/held/object") + get("/held/cold") + get("/held/object")
                    + get("/held/object", "Range", "bytes=1-2"));
            assertThat(raw.receive().body()).isEqualTo(held);
            release.countDown();
            assertThat(raw.receive().body()).isEqualTo("cold");
            assertThat(raw.receive().body()).isEqualTo(held);
            assertThat(raw.receive().body()).isEqualTo(held.substring(1, 3));
            raw.send(get("/held/object"));
            assertThat(raw.receive().body()).isEqualTo(held);
        }
    }

    @Test
    void afterARefusalTheConnectionGoesOn() {
        String held = hold("/held/object", 1000);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(TestClient.forged(get("/held/object")) + get("/held/object"));
            RawConnection.Answer refusal = raw.receive();
            assertThat(refusal.status()).isEqualTo(403);
            assertThat(refusal.body()).contains("<Code>SignatureDoesNotMatch</Code>",
                    "<Resource>/held/object</Resource>");
            assertThat(raw.receive().body()).isEqualTo(held);
        }
    }

    @Test
    void nothingIsReadBehindAHitThatEndsItsConnection() {
        String held = hold("/held/object", 1000);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(client.signed("GET", "/held/object", new byte[0]),
                    "Connection: close") + "\r\n" + get("/held/object"));
            assertThat(raw.receive().body()).isEqualTo(held);
            assertThat(raw.isClosedByPeer()).isTrue();
        }
    }

    /**
     * Far more than connections and kernel hold: answers wait for the reader, in bounded memory.
     */
    @Test
    void aReaderThatAsksForMuchAndReadsLateGetsAllOfIt() {
        String held = hold("/held/object", 200_000);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            int asked = 400;
            Thread sender = Thread.startVirtualThread(() -> IntStream.range(0, asked)
                    .forEach(i -> raw.send(get("/held/object"))));
            TestGateway.await(() -> gateway.memory().leases() > 0);
            for (int i = 0; i < asked; i++) {
                assertThat(gateway.memory().leases()).isLessThan(100);
                assertThat(raw.receive().body()).isEqualTo(held);
            }
            assertThat(sender.isAlive()).isFalse();
        }
    }

    /** Each has a place in admission, which others need. */
    @Test
    void whoDoesNotReadHasFewPlacesInAdmission() {
        hold("/held/object", 100_000);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            askWithoutReading(raw, 30);
            assertThat(inAdmission()).isBetween(1.0, 16.0);
        }
    }

    /** Its pages are leased until the kernel has them. */
    @Test
    void whatIsNotYetReadCountsInAdmission() {
        hold("/held/object", 300_000);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            askWithoutReading(raw, 20);
            // Of each answer two pages; one may be on its way.
            assertThat(inAdmission("bytes")).isGreaterThanOrEqualTo(9 * 300_000);
            assertThat(inAdmission()).isLessThanOrEqualTo(1);
        }
        TestGateway.await(() -> inAdmission("bytes") == 0);
        assertThat(inAdmission()).isZero();
    }

    /** One after another, until so many pages are leased for what nobody reads. */
    private void askWithoutReading(RawConnection raw, int leases) {
        for (int asked = 1; gateway.memory().leases() < leases; asked++) {
            raw.send(get("/held/object"));
            int hits = asked;
            TestGateway.await(() -> gateway.metric(
                    "railhead_cache_requests_total{result=\"hit\",}") == hits);
        }
    }

    private double inAdmission(String what) {
        return gateway.metric("railhead_admission_in_use{what=\"" + what + "\",}");
    }

    private double inAdmission() {
        return inAdmission("requests");
    }

    @Test
    void aReaderThatAsksNowAndThenIsNotIdle() {
        String held = hold("/held/object", 1000);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            for (long begin = System.nanoTime(), before = begin; before - begin < 2 * IDLE
                    .toNanos(); before = System.nanoTime()) {
                LockSupport.parkNanos(IDLE.toNanos() / 4);
                try {
                    assertThat(raw.send(get("/held/object")).receive().body()).isEqualTo(held);
                } catch (UncheckedIOException e) {
                    assumeThat(System.nanoTime() - before).isLessThan(IDLE.toNanos());
                    throw e;
                }
            }
        }
    }

    @Test
    void aReaderThatLeavesGivesTheLeasesBack() {
        hold("/held/object", 250_000);
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.sendWhilePossible(get("/held/object").repeat(200)
                    .getBytes(StandardCharsets.US_ASCII));
            TestGateway.await(() -> gateway.memory().leases() > 0);
            raw.reset();
        }
        gateway.assertNoLease();
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0
                && inAdmission() == 0);
    }

    @Test
    void whatAStoreSaysOfACacheOfItsOwnIsNotSaidOfOurs() {
        store.header("x-cache", "Hit from elsewhere");
        store.header("x-railhead-request-id", "another's");
        hold("/held/object", 1000);
        HttpResponse<byte[]> hit = client.get("/held/object");
        assertThat(hit.headers().allValues("x-cache")).containsExactly("HIT");
        assertThat(hit.headers().allValues("x-railhead-request-id")).singleElement()
                .isNotEqualTo("another's");
    }

    @Test
    void hitsAreCountedAndLoggedAsAnyRead() {
        hold("/held/object", 1000);
        int hits = 5;
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < hits; i++) {
            ids.add(client.get("/held/object", "Range", "bytes=0-99")
                    .headers()
                    .firstValue("x-railhead-request-id")
                    .orElseThrow());
        }
        TestGateway.await(() -> gateway.metric(
                "railhead_requests_total{operation=\"GetObject\",status=\"206\",}") == hits);
        assertThat(gateway.metric("railhead_cache_requests_total{result=\"hit\",}"))
                .isEqualTo(hits);
        assertThat(gateway.metric("railhead_bucket_requests_total{bucket=\"held\",}"))
                .isEqualTo(hits + 1);
        assertThat(gateway.metric("railhead_bucket_bytes_total{bucket=\"held\",}"))
                .isEqualTo(1000 + hits * 100);
        String log = gateway.stopAndRead("access.log");
        assertThat(ids).allSatisfy(id -> assertThat(log.lines()
                .filter(line -> line.contains(id))).singleElement()
                .asString()
                .contains(" trainer ", "REST.GET.OBJECT object", " 206 - 100 1000 ",
                        "SigV4 - AuthHeader", "backend=store cache=hit transport=http"));
    }
}
