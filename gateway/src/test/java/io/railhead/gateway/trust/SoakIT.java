package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.GatewayProcess;
import io.railhead.gateway.Operators;
import io.railhead.gateway.SteadyLoad;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.gateway.rdma.KilledPeerIT;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.assertj.core.api.AbstractDoubleAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * One gateway, for as long as {@code railhead.soak.minutes} says: clients over HTTP all the time,
 * one after another by token and over the native channel, sessions that come and go, peers that are
 * killed, readers that leave, a tenant that floods, files that change and that cannot be used, and
 * a store that fails half of the time. Memory, descriptors and latencies must be as flat at the end
 * as they were after the first quarter. Beside it, again and again, others are restarted, killed
 * and given new certificates and keys.
 */
@EnabledIfSystemProperty(named = "railhead.soak.minutes", matches = ".+", disabledReason = "deploy/soak runs it")
class SoakIT {
    private static final Duration LENGTH = Duration
            .ofSeconds((long) (60 * Double.parseDouble(
                    System.getProperty("railhead.soak.minutes", "60"))));
    private static final long SEED = Long.getLong("railhead.seed", 1);
    private static final int PATIENT = 30;
    private static final int A_CYCLE = 600;
    private static final int LARGE = 8 << 20;
    private static final double MEBIBYTE = 1 << 20;
    /** Cycles; what takes longer. */
    private static final int SELDOM = 5;
    private static final int LIMIT = 24;
    private static final int FLOOD = 2 * LIMIT;
    /** All of the heap is there from the start: what grows is not a heap that may grow. */
    private static final String[] WHOLE_HEAP = {"-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch"};
    /** Compilers and allocators may still settle by so much. */
    private static final double MEMORY_SLACK = 1.05;
    private static final double HEAP_SLACK = 1.10;
    private static final double DESCRIPTOR_SLACK = 1.10;
    /** Of medians of a quarter of the run each, on a machine that others use, too. */
    private static final double LATENCY_SLACK = 3;
    private static final List<Toxic> TROUBLE = List.of(new Toxic.Latency(Duration.ofMillis(20)),
            new Toxic.Reset(0), new Toxic.Reset(70_000), new Toxic.Truncation(9),
            new Toxic.OtherLength(7), new Toxic.OtherLength(-7), new Toxic.ExtraBytes(40),
            new Toxic.ShiftedRange(16), new Toxic.IgnoredRange(), new Toxic.SlowDown());

    private static final String REFUSED = "railhead_refused_total{reason=\"requests\",tenant=\"%s\",}";
    private static final String UNUSED = "railhead_file_reloads_total{setting=\"credentials\",outcome=\"refused\",}";

    @TempDir
    private Path folder;

    /** The heap is what a collection leaves of it. */
    private record Sample(long residentBytes, long heapBytes, long descriptors, long hitNanos) {}

    private Path config(FaultProxy store) throws IOException {
        credentials(0);
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:0
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                  admission: {requests: %d}
                rdma:
                  loopback:
                    socket: loopback.sock
                admin: {listen: 127.0.0.1:0}
                cache: {memory: 64MiB}
                backends:
                  store:
                    endpoints: [%s]
                    answer_timeout: 5s
                    idle_timeout: 5s
                rules:
                  - bucket: held
                    freshness: immutable
                """.formatted(LIMIT, store.endpoint()));
    }

    /** Another file each time, the same meaning for who asks here. */
    private void credentials(int change) throws IOException {
        credentials("""
                principals:
                  - name: trainer
                    keys: [{access_key: AK, secret_key: SK}]
                    rdma_put: true
                  - name: flooder
                    keys: [{access_key: FLOOD, secret_key: flood-secret}]
                  - name: guest-%d
                    keys: [{access_key: GUEST%d, secret_key: guest-secret}]
                """.formatted(change, change));
    }

    private void credentials(String content) throws IOException {
        Path next = Files.writeString(folder.resolve("credentials.next"), content);
        Files.move(next, folder.resolve("credentials.yaml"), StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void nothingGrows() throws Exception {
        Random random = new Random(SEED);
        List<Sample> samples = new ArrayList<>();
        try (FakeStore store = new FakeStore();
                FaultProxy proxy = FaultProxy.before(store.endpoint());
                GatewayProcess running = GatewayProcess.start(config(proxy), WHOLE_HEAP);
                ExecutorService operators = Executors.newVirtualThreadPerTaskExecutor()) {
            byte[] large = new byte[LARGE];
            random.nextBytes(large);
            store.put("/held/object", large);
            TestClient client = new TestClient(running.endpoint(), "AK", "SK");
            try (SteadyLoad load = new SteadyLoad(store, client, SEED, PATIENT)) {
                long end = System.nanoTime() + LENGTH.toNanos();
                Future<Integer> restarts = operators.submit(() -> operate(end));
                for (int cycle = 0; System.nanoTime() < end; cycle++) {
                    Toxic toxic = TROUBLE.get(random.nextInt(TROUBLE.size()));
                    proxy.plan(new FaultPlan(SEED + cycle, toxic, 0.2));
                    load.awaitMore(A_CYCLE);
                    credentials(cycle);
                    leave(running, client);
                    if (cycle % SELDOM == 0) {
                        KilledPeerIT.killOne(running.endpoint(), "channel");
                        flood(running);
                        unusable(running);
                    }
                    proxy.plan(FaultPlan.NONE);
                    oneSided(client, large, random);
                    load.medianHitNanos();
                    load.awaitMore(A_CYCLE);
                    Sample sample = new Sample(running.residentBytes(),
                            running.liveHeapBytes(), running.descriptors(),
                            load.medianHitNanos());
                    samples.add(sample);
                    store.forgetRequests();
                    say(cycle, sample, load);
                    assertThat(load.failures()).isEmpty();
                    assertThat(restarts.state()).isNotEqualTo(Future.State.FAILED);
                }
                System.out.println("operators: " + restarts.get() + " rounds");
            }
            assertThat(proxy.injected()).isPositive();
            assertThat(running.metric(REFUSED.formatted("flooder"))).isPositive();
            assertThat(running.metric(REFUSED.formatted("trainer"))).isZero();
            TestGateway.await(() -> running.metric("railhead_leases") == 0);
        }
        assertFlat(samples);
    }

    private static void oneSided(TestClient client, byte[] large, Random random) {
        try (TestPeer peer = new TestPeer(client, "SK", LARGE)) {
            for (int i = 0; i < 8; i++) {
                peer.fill(i);
                int length = 1 + random.nextInt(LARGE);
                Answer answer = peer.ask(Request.get(0, "held", "object", peer.key(), 0, length));
                assertThat(answer.isSuccess()).as("%s", answer).isTrue();
                assertThat(peer.bytes(0, length)).isEqualTo(Arrays.copyOf(large, length));
                peer.fill(i);
                assertThat(client.get("/held/object", peer.headers(0, LARGE))
                        .headers()
                        .firstValue("x-amz-rdma-reply")).contains("200");
                assertThat(peer.bytes(0, LARGE)).isEqualTo(large);
            }
        }
    }

    /** In mid-body. */
    private static void leave(GatewayProcess running, TestClient client) {
        for (int i = 0; i < 4; i++) {
            try (RawConnection reader = ask(running, client)) {
                reader.receiveHead();
                reader.read(1000);
                reader.reset();
            }
        }
    }

    private static RawConnection ask(GatewayProcess running, TestClient client) {
        HttpRequest request = client.signed("GET", "/held/object", new byte[0]);
        return new RawConnection(running.endpoint()).send(RawConnection.head(request) + "\r\n");
    }

    /** More at once than is taken on, by readers who read nothing but the head. */
    private static void flood(GatewayProcess running) {
        TestClient flooder = new TestClient(running.endpoint(), "FLOOD", "flood-secret");
        List<RawConnection> flood = new ArrayList<>();
        try {
            for (int i = 0; i < FLOOD; i++) {
                flood.add(ask(running, flooder));
            }
            assertThat(flood).extracting(each -> each.receiveHead().status())
                    .containsOnly(200, 503);
        } finally {
            flood.forEach(RawConnection::close);
        }
    }

    /** A file that ends too early changes nothing. */
    private void unusable(GatewayProcess running) throws IOException {
        double before = running.metric(UNUSED);
        credentials("principals: [{name: trainer, keys: [{access_key: AK");
        TestGateway.await(() -> running.metric(UNUSED) > before);
        credentials(-1);
    }

    /**
     * What operators do, until then.
     *
     * @return how often
     */
    private int operate(long endNanos) throws Exception {
        int rounds = 0;
        for (; System.nanoTime() < endNanos; rounds++) {
            try (Operators others = new Operators(
                    Files.createDirectories(folder.resolve("operators-" + rounds)))) {
                others.restartOneAfterAnother();
                others.killAndStartAgain();
                others.changeFiles();
            }
        }
        return rounds;
    }

    private static void say(int cycle, Sample sample, SteadyLoad load) {
        System.out.printf("cycle %d: %d requests, %d tried again,"
                + " %.1f MiB, %.1f MiB of live heap, %d descriptors, %d us%n",
                cycle, load.done(), load.retries(), sample.residentBytes() / MEBIBYTE,
                sample.heapBytes() / MEBIBYTE, sample.descriptors(), sample.hitNanos() / 1000);
    }

    private static void assertFlat(List<Sample> samples) {
        assertThat(samples.size() / 4).as("cycles in a quarter: more minutes are needed")
                .isPositive();
        assertGrowth(samples, Sample::residentBytes, "memory").isLessThan(MEMORY_SLACK);
        assertGrowth(samples, Sample::heapBytes, "live heap").isLessThan(HEAP_SLACK);
        assertGrowth(samples, Sample::descriptors, "descriptors").isLessThan(DESCRIPTOR_SLACK);
        assertGrowth(samples, Sample::hitNanos, "latency").isLessThan(LATENCY_SLACK);
    }

    /** From the second quarter to the last, of medians. */
    private static AbstractDoubleAssert<?> assertGrowth(List<Sample> samples,
            Function<Sample, Long> value, String what) {
        int quarter = samples.size() / 4;
        long before = median(samples.subList(quarter, 2 * quarter), value);
        long after = median(samples.subList(samples.size() - quarter, samples.size()), value);
        return assertThat((double) after / before).as(what);
    }

    private static long median(List<Sample> samples, Function<Sample, Long> value) {
        return samples.stream().map(value).sorted().toList().get(samples.size() / 2);
    }
}
