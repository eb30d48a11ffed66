package io.railhead.gateway.relay;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.trust.FaultPlan;
import io.railhead.gateway.trust.FaultProxy;
import io.railhead.gateway.trust.Toxic;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each toxic of the proxy, on every answer of the store and on some: what clients get. */
class ToxicsIT {
    private static final byte[] OBJECT = random(1, 700_000);
    private static final int MARK = 0x5a;
    private static final long SEED = Long.getLong("railhead.seed", 1);

    private final FakeStore store = new FakeStore();
    private final FaultProxy proxy = FaultProxy.before(store.endpoint());
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(proxy.endpoint())
            .owning(proxy)
            .owning(store)
            .config("""
                    cache:
                      memory: 16MiB
                      page: 64KiB
                      run: 128KiB
                      window: 256KiB
                    backends:
                      store:
                        answer_timeout: 1s
                        idle_timeout: 1s
                        max_attempts: 2
                    rules:
                      - {bucket: uncached, cache: off}
                      - {bucket: immutable, freshness: immutable}
                      - bucket: shared
                        shared: true
                        freshness: immutable
                        authorization: {remember: 0s}
                    """)
            .principals(TestGateway.TRAINER + TestGateway.OTHER);
    private final TestClient client = gateway.client();

    @BeforeEach
    void start() {
        store.put("/b/key", OBJECT);
        store.put("/uncached/key", OBJECT);
    }

    /** None of these may be taken for the object. */
    private static final List<Toxic> LIES = List.of(new Toxic.Reset(0), new Toxic.Reset(300),
            new Toxic.Reset(70_000), new Toxic.Lost(), new Toxic.Truncation(1),
            new Toxic.Truncation(70_000), new Toxic.OtherLength(-1), new Toxic.OtherLength(1),
            new Toxic.ExtraBytes(40), new Toxic.SecondAnswer(), new Toxic.ShiftedRange(16),
            new Toxic.IgnoredRange(), new Toxic.ChangedEtag(), new Toxic.SlowDown());

    /** The way is bad, and all that comes over it is true. */
    private static final List<Toxic> TROUBLES = List.of(
            new Toxic.Latency(Duration.ofMillis(100)),
            new Toxic.LateRequest(Duration.ofMillis(50)), new Toxic.Bandwidth(4_000_000),
            new Toxic.Slicer(50, Duration.ZERO), new Toxic.Slicer(1400, Duration.ZERO),
            new Toxic.Stall(1000, Duration.ofMillis(100)));

    private void get(String path, int from, int to) {
        get(path, OBJECT, from, to);
    }

    private void get(String path, byte[] object, int from, int to) {
        HttpResponse<byte[]> answer;
        try {
            answer = from == 0 && to == object.length
                    ? client.get(path)
                    : client.get(path, "Range", "bytes=" + from + "-" + (to - 1));
        } catch (CompletionException e) {
            return; // A body that cannot be finished is cut.
        }
        assertThat(answer.statusCode()).isIn(200, 206, 500, 502, 503);
        if (answer.statusCode() == 200) {
            // Also where a range was asked for: a store may know none, and is relayed.
            assertThat(answer.body()).isEqualTo(object);
        } else if (answer.statusCode() == 206) {
            assertThat(answer.body()).isEqualTo(Arrays.copyOfRange(object, from, to));
        }
    }

    private void head(String path) {
        HttpResponse<byte[]> answer = client.head(path);
        assertThat(answer.statusCode()).isIn(200, 503);
        if (answer.statusCode() == 200) {
            assertThat(answer.headers().firstValue("etag")).contains(FakeStore.etag(OBJECT));
            assertThat(answer.headers().firstValueAsLong("content-length"))
                    .hasValue(OBJECT.length);
        }
    }

    @Test
    void aLieIsAnErrorOrARetryAndNeverTheObject() {
        for (Toxic toxic : LIES) {
            String path = "/b/" + toxic.getClass().getSimpleName() + toxic.hashCode();
            store.put(path, OBJECT);
            proxy.plan(FaultPlan.always(toxic));
            long before = proxy.injected();
            get(path, 0, OBJECT.length);
            get(path, 100_000, 400_000);
            for (int seed = 1; seed < 4; seed++) {
                proxy.plan(new FaultPlan(seed, toxic, 0.4));
                get(path, 0, OBJECT.length);
                get(path, 65_536, 65_537);
                head(path);
            }
            proxy.plan(FaultPlan.NONE);
            assertThat(proxy.injected()).as("%s", toxic).isGreaterThan(before);
            TestGateway.await(() -> client.head(path).statusCode() == 200);
            assertThat(client.get(path).body()).as("%s", toxic).isEqualTo(OBJECT);
        }
    }

    @Test
    void neitherIsAnyOfTwoHundredDrawnOnes() {
        drawLies(200);
    }

    @Test
    @Tag("long")
    void norOfTenThousand() {
        drawLies(10_000);
    }

    private void drawLies(int count) {
        Random random = new Random(SEED);
        for (int i = 0; i < count; i++) {
            String path = "/b/drawn" + i;
            byte[] object = Arrays.copyOf(OBJECT, 1 + random.nextInt(OBJECT.length));
            store.put(path, object);
            int by = 1 + random.nextInt(random.nextBoolean() ? 100 : object.length);
            Toxic toxic = switch (random.nextInt(6)) {
                case 0 -> new Toxic.Reset(by);
                case 1 -> new Toxic.Truncation(by);
                case 2 -> new Toxic.OtherLength(-by);
                case 3 -> new Toxic.OtherLength(by);
                case 4 -> new Toxic.ExtraBytes(by);
                default -> new Toxic.ShiftedRange(by);
            };
            proxy.plan(new FaultPlan(SEED + i, toxic, random.nextBoolean() ? 1 : 0.5));
            int from = random.nextBoolean() ? 0 : random.nextInt(object.length);
            int to = from == 0 && random.nextBoolean()
                    ? object.length
                    : from + 1 + random.nextInt(object.length - from);
            get(path, object, from, to);
            proxy.plan(FaultPlan.NONE);
            TestGateway.await(() -> client.head(path).statusCode() == 200);
            assertThat(client.get(path).body()).as("%d: %s", i, toxic).isEqualTo(object);
            store.forgetRequests();
        }
        assertThat(proxy.injected()).isGreaterThan(count / 2);
    }

    @Test
    void aStallThatOutlivesPatienceIsAnError() {
        proxy.plan(FaultPlan.always(new Toxic.Stall(1000, Duration.ofHours(1))));
        TestClient.assertGivenUp(client.sendAsync("GET", "/b/key", new byte[0]));
        TestClient.assertGivenUp(client.sendAsync("GET", "/uncached/key", new byte[0]));
        proxy.plan(FaultPlan.NONE);
        // The question about the endpoint may have left a connection that stalls in the pool.
        TestGateway.await(() -> client.get("/b/key").statusCode() == 200);
        assertThat(client.get("/b/key").body()).isEqualTo(OBJECT);
    }

    @Test
    void aBadWayIsOnlySlow() {
        for (Toxic toxic : TROUBLES) {
            String path = "/b/" + toxic.getClass().getSimpleName() + toxic.hashCode();
            store.put(path, OBJECT);
            proxy.plan(FaultPlan.always(toxic));
            assertThat(client.get(path, "Range", "bytes=0-9999").body()).as("%s", toxic)
                    .isEqualTo(Arrays.copyOf(OBJECT, 10_000));
            assertThat(client.put(path, new byte[5000]).statusCode()).isEqualTo(200);
            assertThat(store.object(path)).hasSize(5000);
        }
    }

    @Test
    void aPartThatIsNotWhatWasAskedForIsNotHandedOn() {
        proxy.plan(FaultPlan.always(new Toxic.ShiftedRange(65)));
        HttpResponse<byte[]> answer = client.get("/b/key");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(OBJECT);
    }

    @Test
    void aRelayedPartIsTheOneAskedForAndAsLongAsItSays() {
        for (Toxic toxic : List.of(new Toxic.ShiftedRange(65), new Toxic.OtherLength(15),
                new Toxic.OtherLength(-15))) {
            proxy.plan(FaultPlan.always(toxic));
            assertThat(client.get("/uncached/key", "Range", "bytes=1000-9999").statusCode())
                    .as("%s", toxic)
                    .isEqualTo(503);
        }
        proxy.plan(FaultPlan.NONE);
        assertThat(client.get("/uncached/key", "Range", "bytes=1000-9999").body())
                .isEqualTo(Arrays.copyOfRange(OBJECT, 1000, 10_000));
    }

    /** Each part that is asked for by its version's name comes with another: there is no end. */
    @Test
    void whatHasBegunInAClientsMemoryIsAnErrorAndNotDeclined() {
        proxy.plan(FaultPlan.always(new Toxic.ChangedEtag()));
        try (TestPeer peer = new TestPeer(client, "SK", OBJECT.length)) {
            peer.fill(MARK);
            Answer answer = peer.ask(Request.get(0, "b", "key", peer.key(), 0, OBJECT.length));
            assertThat(peer.isAll(MARK)).isFalse();
            assertThat(answer.status()).as("%s", answer).isEqualTo(503);
            peer.fill(MARK);
            HttpResponse<byte[]> byToken = client.get("/b/key", peer.headers(0, 400_000));
            assertThat(peer.isAll(MARK)).isFalse();
            assertThat(byToken.statusCode()).isEqualTo(503);
            assertThat(byToken.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        }
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
        store.put("/shared/key", OBJECT);
        TestClient other = gateway.client("OTHER", "other-secret");
        client.get("/shared/key");
        long fetched = store.count("GET /shared/key");
        assertThat(other.get("/shared/key").body()).isEqualTo(OBJECT);
        assertThat(store.count("GET /shared/key")).isEqualTo(fetched);
        proxy.plan(FaultPlan.always(new Toxic.Denied("OTHER")));
        for (int i = 0; i < 20; i++) {
            assertThat(other.get("/shared/key").statusCode()).isEqualTo(403);
            assertThat(other.head("/shared/key").statusCode()).isEqualTo(403);
            assertThat(client.get("/shared/key").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void whatIsHeldIsServedWhereverTheStoreSlowsDown() {
        store.put("/b/held", OBJECT);
        client.get("/b/held");
        proxy.plan(FaultPlan.everyOther(new Toxic.SlowDown()));
        long before = proxy.injected();
        assertHundredHits("/b/held");
        assertThat(proxy.injected() - before).isEqualTo(100);
    }

    @Test
    void whatNeedsNoAskingIsServedWhateverTheStoreSays() {
        store.put("/immutable/held", OBJECT);
        client.get("/immutable/held");
        proxy.plan(FaultPlan.always(new Toxic.SlowDown()));
        store.forgetRequests();
        long before = proxy.injected();
        assertHundredHits("/immutable/held");
        assertThat(proxy.injected()).isEqualTo(before);
        assertThat(store.requests()).isEmpty();
    }

    private void assertHundredHits(String path) {
        for (int i = 0; i < 100; i++) {
            HttpResponse<byte[]> answer = client.get(path);
            assertThat(answer.statusCode()).as("%d", i).isEqualTo(200);
            assertThat(answer.body()).isEqualTo(OBJECT);
        }
    }
}
