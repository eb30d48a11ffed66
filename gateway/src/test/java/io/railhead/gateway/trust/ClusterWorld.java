package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.Environment;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.cluster.LoopbackAddresses;
import io.railhead.gateway.trust.History.Step;
import io.railhead.gateway.trust.Judge.Sight;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Gateways of one cluster before one proxy that fails before the reference store, and the one
 * history that a seed gives. Each operation goes to one of them. Their network fails, they end and
 * start anew, and their clocks differ. They promise what one gateway does.
 */
final class ClusterWorld implements AutoCloseable {
    private static final List<String> BUCKETS = List.of("strong", "bounded", "immutable");
    private static final int GATEWAYS = 3;
    private static final int OPERATIONS_PER_STEP = 24;
    /** A fault lasts so many steps at most. */
    private static final int LONGEST_FAULT = 3;
    private static final int NETWORK_FAULTS_IN_100 = 20;
    private static final int ENDS_IN_100 = 5;
    private static final Duration SKEW = Duration.ofSeconds(5);
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final Duration REMEMBERED = Duration.ofSeconds(60);
    /** Invariant I3: a write may wait for a member that is silent. */
    private static final Duration BACK_TO_NORMAL = Duration.ofSeconds(20);
    private static final List<String> SECRETS = List.of("SK", "other-secret");
    private static final List<String> ACCESS_KEYS = List.of("AK", "OTHER");
    private static final String PRINCIPALS = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
              - name: other
                keys: [{access_key: OTHER, secret_key: other-secret}]
                rdma_put: true
            """;

    private final long seed;
    private final AtomicLong jumpedNanos = new AtomicLong();
    private final ReferenceStore store = new ReferenceStore(this::nanoTime, Set.of("immutable"),
            ACCESS_KEYS);
    private final FaultProxy proxy = new FaultProxy(store);
    private final Judge judge = new Judge(store, List.of(Promise.strong("strong"),
            Promise.bounded("bounded", BOUND, REMEMBERED),
            Promise.immutable("immutable", REMEMBERED)));
    private final PressureClock spared = new PressureClock(System::nanoTime);
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    private final ModelNetwork network;
    private final History history;
    /** The course of the cluster: drawn apart, so that the history is what its seed says. */
    private final SplittableRandom course;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final List<Seat> seats = new ArrayList<>();
    private NetworkFault fault = NetworkFault.NONE;
    private int faultEnds;

    /** One gateway, and the clients that ask it. */
    private final class Seat {
        private final TestGateway gateway;
        private final String config;
        private final List<TestClient> clients;
        private ModelPeers peers;
        private ModelClient client;

        Seat(int index, String config) {
            long skewNanos = SKEW.multipliedBy(index - 1).toNanos();
            this.config = config;
            this.gateway = TestGateway.over(proxy.endpoint())
                    .config(config)
                    .principals(PRINCIPALS)
                    .environment(Environment.REAL.withClock(() -> nanoTime() + skewNanos)
                            .withLinks(unopened -> network.link(index, unopened)))
                    .start();
            this.clients = List.of(gateway.client(ACCESS_KEYS.get(0), SECRETS.get(0)),
                    gateway.client(ACCESS_KEYS.get(1), SECRETS.get(1)));
            this.peers = new ModelPeers(clients, SECRETS, OPERATIONS_PER_STEP);
            this.client = new ModelClient(http, clients, peers, store);
        }

        /** Its clients' sessions end with it. */
        void restart() {
            peers.close();
            gateway.restart(config);
            peers = new ModelPeers(clients, SECRETS, OPERATIONS_PER_STEP);
            client = new ModelClient(http, clients, peers, store);
        }
    }

    ClusterWorld(long seed) {
        this.seed = seed;
        this.network = new ModelNetwork(seed);
        this.history = History.ofBuckets(seed, OPERATIONS_PER_STEP, BUCKETS);
        this.course = new SplittableRandom(~seed);
        history.before().forEach(object -> {
            store.putBehind(object.path(), object.content(), 0);
            // Each account has an object of its own in a bucket that is not shared.
            ACCESS_KEYS.forEach(key -> store.putBehind(key + object.path(), object.content(), 0));
        });
        List<String> hosts = IntStream.range(0, GATEWAYS)
                .mapToObj(_ -> LoopbackAddresses.next())
                .toList();
        String members = hosts.stream()
                .map(host -> '"' + host + ":7800\"")
                .collect(Collectors.joining(", ", "[", "]"));
        for (int i = 0; i < GATEWAYS; i++) {
            seats.add(new Seat(i, config(i, hosts.get(i), members)));
        }
        awaitLeases();
    }

    private static String config(int index, String host, String members) {
        return """
                gateway: {name: g%d}
                cluster: {name: model, listen: "%s:7800", members: %s, fills: "%s:7801"}
                rdma:
                  channel: {request_timeout: 5s}
                cache: {memory: 4MiB, page: 64KiB, run: 128KiB, window: 256KiB,
                  read_ahead: {window: 256KiB, per_tenant: 512KiB}}
                backends:
                  store: {answer_timeout: 1s, idle_timeout: 1s, max_attempts: 2}
                rules:
                  - {bucket: strong, shared: true}
                  - {bucket: bounded, shared: true, freshness: {bounded: 30s}}
                  - {bucket: immutable, freshness: immutable, cache: reads+writes}
                """.formatted(index, host, members, host);
    }

    /** Goes on as time does, and by what the history says. */
    private long nanoTime() {
        return System.nanoTime() + jumpedNanos.get();
    }

    /** Returns what was seen how often, by kind of operation. */
    Map<String, LongAdder> counts() {
        return new TreeMap<>(counts);
    }

    /** Returns how many messages between the gateways were lost. */
    long lost() {
        return network.lost();
    }

    /** Returns what a series has come to, of all gateways since their last starts. */
    double metric(String series) {
        return seats.stream().mapToDouble(seat -> seat.gateway.metric(series)).sum();
    }

    void run(long operations) {
        for (long done = 0; done < operations; done += OPERATIONS_PER_STEP) {
            Step step = history.next();
            int ends = course.nextInt(100) < ENDS_IN_100 ? course.nextInt(GATEWAYS) : -1;
            boolean kills = course.nextBoolean();
            try {
                if (step.number() >= faultEnds) {
                    changeFault(step.number());
                }
                run(step, ends, kills);
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", step " + step.number() + ", "
                        + step.plan() + ", " + fault + ", end of " + ends
                        + (kills ? " by a kill: " : ": ") + e.getMessage(), e);
            }
        }
        changeTo(NetworkFault.NONE);
        awaitLeases();
    }

    private void changeFault(int step) {
        boolean fails = course.nextInt(100) < NETWORK_FAULTS_IN_100;
        faultEnds = step + 1 + course.nextInt(LONGEST_FAULT);
        changeTo(fails ? NetworkFault.draw(course, GATEWAYS) : NetworkFault.NONE);
        if (!fails) {
            awaitLeases();
        }
    }

    private void changeTo(NetworkFault other) {
        fault = other;
        network.fail(other);
    }

    /** Once all is well each serves what it has. */
    private void awaitLeases() {
        quiet("leases of the cluster", () -> seats.stream()
                .allMatch(seat -> seat.gateway.metric("railhead_cluster_lease") == 1));
    }

    private void run(Step step, int ends, boolean kills) {
        jumpedNanos.addAndGet(step.later().toNanos());
        if (step.permitted()) {
            BUCKETS.forEach(bucket -> store.permit(ACCESS_KEYS.get(1), bucket, true));
        }
        if (step.denied() != null) {
            store.permit(ACCESS_KEYS.get(1), step.denied(), false);
        }
        proxy.plan(step.plan());
        long begun = nanoTime();
        List<Future<@Nullable String>> running = new ArrayList<>();
        for (Operation operation : step.operations()) {
            int member = course.nextInt(GATEWAYS);
            // Nobody asks a gateway that ends: what it would say is the one-gateway model's.
            Seat seat = seats.get(member == ends ? (member + 1) % GATEWAYS : member);
            boolean mayFail = step.excuses(operation.kind()) || ends >= 0
                    || !fault.equals(NetworkFault.NONE);
            running.add(threads.submit(() -> run(operation, seat, mayFail)));
        }
        if (ends >= 0) {
            if (kills) {
                network.kill(ends);
            }
            seats.get(ends).restart();
        }
        for (Future<@Nullable String> each : running) {
            assertThat(await(each)).isNull();
        }
        proxy.plan(FaultPlan.NONE);
        for (Seat seat : seats) {
            quiet("I4: leases", () -> seat.gateway.memory().leases() == 0);
            for (Operation operation : seat.peers.unanswered()) {
                assertThat(judge(operation, seat.client.untold(operation), begun)).isNull();
            }
            assertThat(seat.peers.findLateWrite()).isNull();
        }
        assertThat(store.violations()).isEmpty();
    }

    /** Tries an operation again, as SDKs do, if nothing makes it fail: it must succeed in time. */
    private @Nullable String run(Operation operation, Seat seat, boolean mayFail) {
        long begun = nanoTime();
        Deadline normal = new Deadline(BACK_TO_NORMAL, spared);
        while (true) {
            long from = operation.kind().isWrite() ? begun : nanoTime();
            Observation seen = seat.client.observe(operation);
            counts.computeIfAbsent(operation.kind() + " " + seen.getClass().getSimpleName(),
                    _ -> new LongAdder()).increment();
            String wrong = judge(operation, seen, from);
            if (wrong != null) {
                return "g" + seats.indexOf(seat) + ": " + wrong;
            }
            boolean hasFailed = seen instanceof Observation.Failed
                    || (seen instanceof Observation.Cut cut && !cut.left());
            if (mayFail || !hasFailed) {
                return null;
            }
            if (normal.isOver()) {
                return operation + ": I3: took longer than " + BACK_TO_NORMAL + ": " + seen;
            }
        }
    }

    private @Nullable String judge(Operation operation, Observation seen, long from) {
        String wrong = judge.judge(new Sight(operation, ACCESS_KEYS.get(operation.principal()),
                seen, from, nanoTime()));
        return wrong == null ? null : operation + ": " + wrong;
    }

    private static @Nullable String await(Future<@Nullable String> running) {
        try {
            return running.get();
        } catch (ExecutionException e) {
            throw new AssertionError(String.valueOf(e.getCause()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    private void quiet(String what, BooleanSupplier isQuiet) {
        assertThat(new Deadline(BACK_TO_NORMAL, spared).isMetBy(isQuiet)).as(what).isTrue();
    }

    @Override
    public void close() {
        threads.shutdown();
        http.shutdownNow();
        seats.forEach(seat -> {
            seat.peers.close();
            seat.gateway.close();
        });
        proxy.close();
    }
}
