package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.Environment;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.trust.History.Step;
import io.railhead.gateway.trust.Judge.Sight;
import io.railhead.gateway.trust.Observation.Way;
import io.railhead.gateway.trust.Operation.Kind;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A gateway before a proxy that fails before the reference store, its clients, and the one history
 * that a seed gives. Every step's operations run at once; then all of it must be quiet.
 */
final class ModelWorld implements AutoCloseable {
    private static final int OPERATIONS_PER_STEP = 24;
    /** Of the work requests of a step that has a fault of the fabric. */
    private static final double FABRIC_FAULT = 0.3;
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final Duration REMEMBERED = Duration.ofSeconds(60);
    /** Invariant I3, of the time in which the machine has processors to spare. */
    private static final Duration BACK_TO_NORMAL = Duration.ofSeconds(10);
    private static final String LOOPBACK = "{fabric=\"loopback\",}";
    /** Five hundred operations. */
    private static final int STEPS_PER_LIFE = 500 / OPERATIONS_PER_STEP + 1;
    /** One step in so many has another configuration come while it runs. */
    private static final int RECONFIGURED = 4;
    private static final String REFUTED = "railhead_fill_checksums_total{result=\"mismatch\",}";
    private static final String WRITTEN = "railhead_disk_pages_total{result=\"written\",}";
    private static final String READ = "railhead_disk_pages_total{result=\"read\",}";
    private static final String MOVED = "Moved";
    /** None of the history's. */
    private static final String ALWAYS = "/strong/always";
    private static final List<String> SECRETS = List.of("SK", "other-secret");
    private static final List<String> ACCESS_KEYS = List.of("AK", "OTHER");

    private final long seed;
    private final AtomicLong jumpedNanos = new AtomicLong();
    private final ReferenceStore store = new ReferenceStore(this::nanoTime,
            Set.of("immutable"), ACCESS_KEYS);
    private final FaultProxy proxy = new FaultProxy(store);
    private final FabricFaults fabrics = new FabricFaults();
    private final PressureClock spared = new PressureClock(System::nanoTime);
    private final Judge judge = new Judge(store, List.of(Promise.strong("strong"),
            Promise.bounded("bounded", BOUND, REMEMBERED),
            Promise.immutable("immutable", REMEMBERED),
            Promise.exclusive("exclusive", REMEMBERED)));
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    private final @Nullable ModelDisk disk;
    private final String memory;
    private final Fills fills;
    private final Consumer<TestGateway> onStart;
    private final Map<String, Double> formerLives = new HashMap<>();
    private String yaml;
    private final TestGateway gateway;
    private final List<TestClient> clients;
    private final History history;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private ModelPeers peers;
    private ModelClient client;

    /** @param onStart called with each gateway that has started */
    ModelWorld(long seed, Fills fills, Storage storage, Consumer<TestGateway> onStart) {
        this.seed = seed;
        this.fills = fills;
        this.onStart = onStart;
        this.disk = storage == Storage.DISK ? new ModelDisk() : null;
        this.memory = fills == Fills.VERIFIED && disk == null ? "16MiB" : "4MiB";
        this.history = new History(seed, OPERATIONS_PER_STEP, fills, storage);
        this.yaml = yaml();
        this.gateway = TestGateway.over(proxy.endpoint())
                .config(yaml)
                .principals("""
                        principals:
                          - name: trainer
                            keys: [{access_key: AK, secret_key: SK}]
                            rdma_put: true
                          - name: other
                            keys: [{access_key: OTHER, secret_key: other-secret}]
                            rdma_put: true
                          - name: operator
                            keys: [{access_key: ADMIN, secret_key: admin-secret}]
                            admin: true
                        """)
                .environment(Environment.REAL.withClock(this::nanoTime)
                        .withFabrics(fabric -> new FaultyFabric(fabric, fabrics)))
                .start();
        this.clients = List.of(gateway.client(ACCESS_KEYS.get(0), SECRETS.get(0)),
                gateway.client(ACCESS_KEYS.get(1), SECRETS.get(1)));
        store.putBehind(ALWAYS, Content.create(0, History.MAX_BYTES), 0);
        if (disk != null) {
            // So many names would be empty for long.
            history.before().forEach(object -> {
                store.putBehind(object.path(), object.content(), 0);
                // Each account has an object of its own there.
                ACCESS_KEYS.forEach(
                        key -> store.putBehind(key + object.path(), object.content(), 0));
            });
        }
        this.peers = new ModelPeers(clients, SECRETS, OPERATIONS_PER_STEP + 1);
        this.client = new ModelClient(http, clients, peers, store);
        onStart.accept(gateway);
    }

    private String yaml() {
        String below = disk == null
                ? ""
                : "\n  disk: {paths: [\"" + disk.path()
                        + "\"], size: 160MiB, writes_per_day: 0, min_object: 1}";
        return """
                gateway:
                  sole: true
                rdma:
                  decide_timeout: 500ms
                  fence_timeout: 1s
                  channel: {request_timeout: 1s}
                cache:
                  memory: %s
                  page: %dKiB
                  run: 128KiB
                  window: 256KiB
                  read_ahead: {window: 256KiB, per_tenant: 512KiB}%s
                backends:
                  store:
                    answer_timeout: 1s
                    idle_timeout: 1s
                    max_attempts: 2
                rules:
                  - bucket: strong
                    shared: true
                    verify_fills: VERIFIED
                  - bucket: bounded
                    shared: true
                    verify_fills: VERIFIED
                    freshness: {bounded: 30s}
                  - bucket: immutable
                    verify_fills: VERIFIED
                    freshness: immutable
                    cache: reads+writes
                  - bucket: exclusive
                    shared: true
                    verify_fills: VERIFIED
                    freshness: {exclusive: 1h}
                    cache: reads+writes
                """.formatted(memory, Judge.PAGE_BYTES >> 10, below)
                .replace("VERIFIED", Boolean.toString(fills == Fills.VERIFIED));
    }

    /** Goes on as time does, and by what the history says. */
    private long nanoTime() {
        return System.nanoTime() + jumpedNanos.get();
    }

    /** What was seen how often, by kind of operation. */
    Map<String, LongAdder> counts() {
        return counts;
    }

    long injected() {
        return proxy.injected() + fabrics.injected();
    }

    /** Objects whose bytes were not those that the store names. */
    long refuted() {
        return (long) counted(REFUTED);
    }

    /** Pages that were written to disk. */
    long writtenToDisk() {
        return (long) counted(WRITTEN);
    }

    /** Pages that came from disk. */
    long readFromDisk() {
        return (long) counted(READ);
    }

    /** Returns what a series has come to in all lives of the gateway. */
    private double counted(String series) {
        return formerLives.getOrDefault(series, 0.0) + gateway.metric(series);
    }

    /** Configurations that promise as much or more, one after the other. */
    private @Nullable String reconfigure(int which) {
        String changed = switch (which % 6) {
            case 0 -> yaml.replace("bounded: 30s", "bounded: 5s");
            case 1 -> yaml.replace("freshness: immutable", "freshness: strong");
            case 2 -> yaml.replace("freshness: {exclusive: 1h}", "freshness: strong");
            case 3 -> yaml.replace("shared: true", "shared: false");
            case 4 -> yaml.replace("max_attempts: 2", "max_attempts: 3");
            default -> yaml.replace("cache: reads+writes", "cache: off");
        };
        try {
            gateway.reconfigure(changed);
            gateway.reconfigure(which % 2 == 0 ? yaml : changed);
            return null;
        } catch (ConfigException e) {
            return e.getMessage();
        }
    }

    /** What makes each principal's objects its own stays until the next configuration. */
    private static boolean isSharingChanged(int which) {
        return which % 6 == 3 || which % 6 == 4;
    }

    /**
     * Ends the gateway and starts it again over the same disk, by turns in order and by a kill:
     * then what it wrote in its last moments is lost.
     */
    private void restart(ModelDisk over, boolean kill) {
        peers.close();
        if (kill) {
            over.kill();
        }
        for (String series : List.of(REFUTED, WRITTEN, READ)) {
            formerLives.merge(series, gateway.metric(series), Double::sum);
        }
        // Verdicts from before do not hold for pages that come back: docs/disk-tier.md.
        judge.dividing();
        yaml = yaml();
        gateway.restart(yaml);
        judge.divided(nanoTime());
        onStart.accept(gateway);
        peers = new ModelPeers(clients, SECRETS, OPERATIONS_PER_STEP + 1);
        client = new ModelClient(http, clients, peers, store);
    }

    void run(long operations) {
        for (long done = 0; done < operations; done += OPERATIONS_PER_STEP) {
            Step step = history.next();
            try {
                if (disk != null && step.number() > 0 && step.number() % STEPS_PER_LIFE == 0) {
                    restart(disk, step.number() / STEPS_PER_LIFE % 2 == 0);
                }
                run(step);
                if (done + OPERATIONS_PER_STEP >= operations) {
                    end();
                }
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", step " + step.number() + ", "
                        + step.plan() + " and " + step.fabric()
                        + " of the fabric: " + e.getMessage(), e);
            }
        }
    }

    private void run(Step step) {
        jumpedNanos.addAndGet(step.later().toNanos());
        if (step.permitted()) {
            History.BUCKETS.forEach(bucket -> store.permit(ACCESS_KEYS.get(1), bucket, true));
        }
        if (step.denied() != null) {
            store.permit(ACCESS_KEYS.get(1), step.denied(), false);
        }
        if (step.peersLeave()) {
            peers.close();
            peers = new ModelPeers(clients, SECRETS, OPERATIONS_PER_STEP + 1);
            client = new ModelClient(http, clients, peers, store);
        }
        boolean reconfigured = step.number() % RECONFIGURED == 0;
        int which = step.number() / RECONFIGURED;
        boolean divided = reconfigured && isSharingChanged(which);
        if (divided) {
            judge.dividing();
        }
        proxy.plan(step.plan());
        fabrics.plan(seed + step.number(), step.fabric(), FABRIC_FAULT);
        long begun = nanoTime();
        List<Future<@Nullable String>> running = new ArrayList<>();
        for (Operation operation : step.operations()) {
            running.add(threads.submit(() -> run(operation, step.excuses(operation.kind()))));
        }
        if (reconfigured) {
            running.add(threads.submit(() -> reconfigure(which)));
        }
        for (Future<@Nullable String> each : running) {
            assertThat(await(each)).isNull();
        }
        proxy.plan(FaultPlan.NONE);
        fabrics.plan(0, FabricFault.NONE, 0);
        quiet("I4: leases", () -> gateway.memory().leases() == 0);
        for (Operation operation : peers.unanswered()) {
            assertThat(judge(operation, client.untold(operation), begun)).isNull();
        }
        if (divided) {
            judge.divided(nanoTime());
        }
        quiet("I4: condemned pages", () -> gateway.memory().condemnedBytes() == 0);
        if (step.fabric() != FabricFault.NONE) {
            quiet("I3: refusals of one-sided reads", () -> isMoved(Kind.GET_BY_CHANNEL)
                    && isMoved(Kind.GET_BY_TOKEN));
        }
        assertThat(peers.findLateWrite()).isNull();
        assertThat(store.violations()).isEmpty();
    }

    /** Whether what is there comes into a client's memory, as it does where nothing fails. */
    private boolean isMoved(Kind kind) {
        Operation read = new Operation(OPERATIONS_PER_STEP, kind, 0, ALWAYS, 0, 0, null, 0, "",
                History.MAX_BYTES);
        return client.observe(read) instanceof Observation.Read(_, _, _, _, byte[] bytes, Way way)
                && way.isOneSided() && bytes.length == History.MAX_BYTES;
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

    /**
     * Returns the fault of an operation; null for none. It is tried again, as SDKs do, if nothing
     * makes it fail: then it must succeed in time.
     */
    private @Nullable String run(Operation operation, boolean mayFail) {
        long begun = nanoTime();
        Deadline normal = new Deadline(BACK_TO_NORMAL, spared);
        for (int tries = 1; true; tries++) {
            long asked = nanoTime();
            long from = operation.kind().isWrite() ? begun : asked;
            Observation seen = client.observe(operation);
            count(operation, seen);
            String wrong = judge(operation, seen, from);
            if (wrong != null) {
                return wrong;
            }
            if (mayFail) {
                return null;
            }
            if (normal.isOver()) {
                return operation + ": I3: took longer than " + BACK_TO_NORMAL + ": " + tries
                        + " tries, the last of " + (nanoTime() - asked) / 1_000_000 + " ms: "
                        + seen;
            }
            if (!hasFailed(seen)) {
                return null;
            }
            count(operation, "again");
        }
    }

    private @Nullable String judge(Operation operation, Observation seen, long from) {
        String wrong = judge.judge(new Sight(operation, ACCESS_KEYS.get(operation.principal()),
                seen, from, nanoTime()));
        return wrong == null ? null : operation + ": " + wrong;
    }

    private static boolean hasFailed(Observation seen) {
        return seen instanceof Observation.Failed
                || (seen instanceof Observation.Cut cut && !cut.left());
    }

    private void count(Operation operation, Observation seen) {
        count(operation, seen instanceof Observation.Read read && read.way().isOneSided()
                ? MOVED
                : seen.getClass().getSimpleName());
    }

    private long counted(Kind kind, String what) {
        LongAdder counted = counts.get(kind + " " + what);
        return counted == null ? 0 : counted.sum();
    }

    /** To be declined, or served by the way that is left, is the exception. */
    private void assertMostAreOneSided() {
        for (Kind kind : List.of(Kind.GET_BY_CHANNEL, Kind.GET_BY_TOKEN, Kind.HEAD_BY_CHANNEL,
                Kind.PUT_BY_CHANNEL, Kind.PUT_BY_TOKEN)) {
            String done = switch (kind) {
                case HEAD_BY_CHANNEL -> "Described";
                case GET_BY_CHANNEL, GET_BY_TOKEN -> MOVED;
                default -> "Written";
            };
            assertThat(counted(kind, done)).as("I3: %s, of %s", kind, counts)
                    .isGreaterThan(counted(kind, "Declined") + counted(kind, "Read")
                            + counted(kind, "Cut"));
        }
    }

    private void count(Operation operation, String what) {
        counts.computeIfAbsent(operation.kind() + " " + what, ignored -> new LongAdder())
                .increment();
    }

    /** Invariant I4: once nothing is kept, nothing is used. */
    private void end() {
        assertMostAreOneSided();
        TestClient operator = new TestClient(gateway.admin(), "ADMIN", "admin-secret");
        for (String bucket : History.BUCKETS) {
            assertThat(operator.send("POST", "/.railhead/admin/evict",
                    ("{\"bucket\":\"" + bucket + "\",\"prefix\":\"\"}").getBytes())
                    .statusCode()).isEqualTo(200);
        }
        quiet("I4: pages", () -> gateway.memory().usedBytes() == 0);
        peers.close();
        quiet("I4: registered bytes",
                () -> gateway.metric("railhead_fabric_registered_bytes" + LOOPBACK) == 0);
        quiet("I4: sessions", () -> gateway.metric("railhead_fabric_sessions" + LOOPBACK) == 0);
        quiet("I4: uploads", () -> gateway.metric("railhead_staged_bytes") == 0);
    }

    private void quiet(String what, BooleanSupplier isQuiet) {
        assertThat(new Deadline(BACK_TO_NORMAL, spared).isMetBy(isQuiet))
                .as("%s stay: %s", what, gateway.memory())
                .isTrue();
    }

    @Override
    public void close() {
        threads.shutdown();
        peers.close();
        http.shutdownNow();
        gateway.close();
        proxy.close();
        if (disk != null) {
            disk.close();
        }
    }
}
