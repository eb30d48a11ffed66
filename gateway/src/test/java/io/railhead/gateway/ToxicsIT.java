package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.trust.FaultPlan;
import io.railhead.gateway.trust.FaultProxy;
import io.railhead.gateway.trust.Toxic;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each toxic of the proxy, on every answer of the store and on some: what clients get. */
class ToxicsIT {
    private static final byte[] OBJECT = random(1, 700_000);

    private FakeStore store;
    private FaultProxy proxy;
    private TestGateway gateway;
    private TestClient client;

    @BeforeEach
    void start() {
        store = new FakeStore();
        store.put("/b/key", OBJECT);
        proxy = FaultProxy.before(store.endpoint());
        gateway = new TestGateway("""
                cache:
                  memory: 16MiB
                  page: 64KiB
                  run: 128KiB
                  window: 256KiB
                backends:
                  store:
                    endpoints: [%s]
                    answer_timeout: 1s
                    idle_timeout: 1s
                    max_attempts: 2
                """.formatted(proxy.endpoint()), """
                principals:
                  - name: trainer
                    keys: [{access_key: AK, secret_key: SK}]
                  - name: other
                    keys: [{access_key: OTHER, secret_key: other-secret}]
                """);
        client = gateway.client("AK", "SK");
    }

    @AfterEach
    void stop() {
        gateway.assertNoLease();
        gateway.close();
        proxy.close();
        store.close();
    }

    private static byte[] random(int seed, int bytes) {
        byte[] object = new byte[bytes];
        new Random(seed).nextBytes(object);
        return object;
    }

    /** None of these may be taken for the object. */
    static List<Toxic> lies() {
        return List.of(new Toxic.Reset(0), new Toxic.Reset(300), new Toxic.Reset(70_000),
                new Toxic.Lost(), new Toxic.Truncation(1), new Toxic.Truncation(70_000),
                new Toxic.ShortPart(1), new Toxic.LongPart(1), new Toxic.ExtraBytes(40),
                new Toxic.SecondAnswer(), new Toxic.ShiftedRange(16), new Toxic.IgnoredRange(),
                new Toxic.ChangedEtag(), new Toxic.SlowDown(),
                new Toxic.Stall(1000, Duration.ofSeconds(3)));
    }

    private void get(int from, int to) {
        HttpResponse<byte[]> answer;
        try {
            answer = from == 0 && to == OBJECT.length
                    ? client.get("/b/key")
                    : client.get("/b/key", "Range", "bytes=" + from + "-" + (to - 1));
        } catch (CompletionException e) {
            return; // A body that cannot be finished is cut.
        }
        assertThat(answer.statusCode()).isIn(200, 206, 500, 502, 503);
        if (answer.statusCode() == 200) {
            // Also where a range was asked for: a store may know none, and is relayed.
            assertThat(answer.body()).isEqualTo(OBJECT);
        } else if (answer.statusCode() == 206 && !isTheStoresOwn(answer, from)) {
            assertThat(answer.body()).isEqualTo(Arrays.copyOfRange(OBJECT, from, to));
        }
    }

    /** What a store says of itself is relayed, and the client sees that it is another range. */
    private static boolean isTheStoresOwn(HttpResponse<byte[]> answer, int from) {
        return from > 0 && answer.headers().firstValue("x-cache").orElse("").equals("BYPASS")
                && !answer.headers()
                        .firstValue("content-range")
                        .orElse("")
                        .startsWith("bytes " + from + "-");
    }

    @ParameterizedTest
    @MethodSource("lies")
    void aLieIsAnErrorOrARetryAndNeverTheObject(Toxic toxic) {
        proxy.plan(FaultPlan.always(toxic));
        get(0, OBJECT.length);
        get(100_000, 400_000);
        for (int seed = 1; seed < 6; seed++) {
            proxy.plan(new FaultPlan(seed, toxic, 0.4));
            get(0, OBJECT.length);
            get(65_536, 65_537);
            client.head("/b/key");
        }
        proxy.plan(FaultPlan.NONE);
        assertThat(proxy.injected()).isPositive();
        TestGateway.await(() -> client.head("/b/key").statusCode() == 200);
        assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
    }

    /** The way is bad, and all that comes over it is true. */
    static List<Toxic> troubles() {
        return List.of(new Toxic.Latency(Duration.ofMillis(100)),
                new Toxic.LateRequest(Duration.ofMillis(50)),
                new Toxic.Bandwidth(4_000_000), new Toxic.Slicer(50, Duration.ZERO),
                new Toxic.Slicer(1400, Duration.ZERO),
                new Toxic.Stall(1000, Duration.ofMillis(100)));
    }

    @ParameterizedTest
    @MethodSource("troubles")
    void aBadWayIsOnlySlow(Toxic toxic) {
        proxy.plan(FaultPlan.always(toxic));
        assertThat(client.get("/b/key", "Range", "bytes=0-9999").body())
                .isEqualTo(Arrays.copyOf(OBJECT, 10_000));
        assertThat(client.put("/b/new", new byte[5000]).statusCode()).isEqualTo(200);
        assertThat(store.object("/b/new")).hasSize(5000);
    }

    @Test
    void aPartThatIsNotWhatWasAskedForIsNotHandedOn() {
        proxy.plan(FaultPlan.always(new Toxic.ShiftedRange(65)));
        HttpResponse<byte[]> answer = client.get("/b/key");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(OBJECT);
    }

    @Test
    void metadataThatChangedUnderTheSameEtagIsSeenByTheNextReader() {
        client.get("/b/key");
        proxy.plan(FaultPlan.always(new Toxic.ChangedMetadata("x-amz-meta-colour", "red")));
        HttpResponse<byte[]> answer = client.get("/b/key");
        assertThat(answer.headers().firstValue("x-amz-meta-colour")).contains("red");
        assertThat(answer.headers().firstValue("x-cache")).contains("REVALIDATED");
        assertThat(answer.body()).isEqualTo(OBJECT);
    }

    @Test
    void whatOneMayReadAnotherIsStillRefused() {
        client.get("/b/key");
        proxy.plan(FaultPlan.always(new Toxic.Denied("OTHER")));
        TestClient other = gateway.client("OTHER", "other-secret");
        for (int i = 0; i < 20; i++) {
            assertThat(other.get("/b/key").statusCode()).isEqualTo(403);
            assertThat(other.head("/b/key").statusCode()).isEqualTo(403);
            assertThat(client.get("/b/key").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void whatIsHeldIsServedWhereverTheStoreSlowsDown() {
        store.put("/b/held", OBJECT);
        client.get("/b/held");
        proxy.plan(new FaultPlan(7, new Toxic.SlowDown(), 0.3));
        int good = 0;
        for (int i = 0; i < 100; i++) {
            good += client.get("/b/held").statusCode() == 200 ? 1 : 0;
        }
        // Two attempts each: one in eleven fails twice.
        assertThat(good).isGreaterThan(70);
    }
}
