package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.Environment;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.trust.History.Step;
import io.railhead.gateway.trust.Operation.Kind;
import io.railhead.gateway.trust.WriteBackJudge.Sight;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A gateway that acknowledges uploads at its disk, before a proxy that fails before the reference
 * store, and the one history that a seed gives. Every step's operations run at once. After each
 * round of steps the store gets everything, and all that was seen is judged. In most rounds the
 * store is down for a stretch; in half of them the gateway ends, or is killed, and starts anew.
 */
final class WriteBackWorld implements AutoCloseable {
    static final List<String> BUCKETS = List.of("strong", "bounded", "exclusive");
    private static final int OPERATIONS_PER_STEP = 24;
    private static final int STEPS_PER_ROUND = 8;
    /** Longer than a store may take to perform a request that it did not answer. */
    private static final Duration DOUBT = Duration.ofSeconds(61);
    /** Longer than the gateway waits for an answer. */
    private static final Duration LATE = Duration.ofMillis(1_500);
    private static final Duration BACK_TO_NORMAL = Duration.ofSeconds(60);
    private static final long RETRY_MILLIS = 200;
    private static final List<String> SECRETS = List.of("SK", "other-secret");
    private static final String PRINCIPALS = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
                backend_credential: {access_key: STORE, secret_key: s, account: site}
              - name: other
                keys: [{access_key: OTHER, secret_key: other-secret}]
                rdma_put: true
                backend_credential: {access_key: STORE2, secret_key: s2, account: site}
              - name: operator
                keys: [{access_key: ADMIN, secret_key: admin-secret}]
                admin: true
            """;
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["trainer", "other"], "Action": "s3:*",
               "Resource": "arn:aws:s3:::*"}]}
            """;

    private final long seed;
    private final AtomicLong jumpedNanos = new AtomicLong();
    private final ReferenceStore store = new ReferenceStore(this::nanoTime);
    private final FaultProxy proxy = new FaultProxy(store);
    private final WriteBackJudge judge = new WriteBackJudge(store);
    private final PressureClock spared = new PressureClock(System::nanoTime);
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    private final ModelDisk disk = new ModelDisk();
    private final TestGateway gateway;
    private final List<TestClient> clients;
    private final TestClient operator;
    private final History history;
    /** The course of each round: drawn apart, so that the history is what its seed says. */
    private final SplittableRandom rounds;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private Round round;
    private ModelPeers peers;
    private ModelClient client;

    /**
     * The course of one round.
     *
     * @param downFrom the step from which the store is down
     * @param downTo the step from which it is there again
     * @param restartAt the step before which the gateway starts anew; -1 for none
     */
    private record Round(int downFrom, int downTo, Toxic down, int restartAt, boolean kills) {
        /** One late request among others in time is overtaken. */
        private static final double LATE_SHARE = 0.5;

        static Round draw(SplittableRandom random) {
            int from = random.nextInt(1, STEPS_PER_ROUND / 2);
            Toxic down = switch (random.nextInt(5)) {
                case 0 -> new Toxic.SlowDown();
                case 1 -> new Toxic.Lost();
                case 2 -> new Toxic.LateRequest(LATE);
                default -> new Toxic.ReadOnly();
            };
            int restart = random.nextBoolean() ? random.nextInt(1, STEPS_PER_ROUND) : -1;
            return new Round(from, from + 2 + random.nextInt(3), down, restart,
                    random.nextBoolean());
        }

        boolean isDown(int step) {
            return step >= downFrom && step < downTo;
        }

        FaultPlan plan(long seed) {
            return new FaultPlan(seed, down, down instanceof Toxic.LateRequest ? LATE_SHARE : 1);
        }
    }

    WriteBackWorld(long seed) {
        this.seed = seed;
        this.history = History.beforeALog(seed, OPERATIONS_PER_STEP, BUCKETS);
        this.rounds = new SplittableRandom(~seed);
        this.round = Round.draw(rounds);
        store.tagByParts();
        this.gateway = TestGateway.over(proxy.endpoint())
                .config(config())
                .principals(PRINCIPALS)
                .file("policy.json", POLICY)
                .environment(Environment.REAL.withClock(this::nanoTime))
                .start();
        this.clients = List.of(gateway.client("AK", SECRETS.get(0)),
                gateway.client("OTHER", SECRETS.get(1)));
        this.operator = new TestClient(gateway::admin, "ADMIN", "admin-secret");
        this.peers = new ModelPeers(clients, SECRETS, OPERATIONS_PER_STEP + 1);
        this.client = new ModelClient(http, clients, peers, store);
    }

    private String config() {
        return """
                gateway: {sole: true, allow_cleartext: true, policy: policy.json}
                rdma:
                  channel: {request_timeout: 2s}
                cache: {memory: 4MiB, page: 64KiB, run: 128KiB, window: 256KiB,
                  read_ahead: {window: 256KiB, per_tenant: 512KiB}}
                backends:
                  store: {answer_timeout: 1s, idle_timeout: 1s, max_attempts: 2}
                write_back: {path: "%s", size: 64MiB, wait: 300ms}
                rules:
                  - {bucket: strong, acknowledge: disk, copies: 1}
                  - {bucket: bounded, shared: true, freshness: {bounded: 30s}, acknowledge: disk,
                     copies: 1}
                  - {bucket: exclusive, freshness: {exclusive: 1h}, authorization: policy,
                     cache: reads+writes, acknowledge: disk, copies: 1}
                """.formatted(disk.path());
    }

    /** Goes on as time does, and by what the history says. */
    private long nanoTime() {
        return System.nanoTime() + jumpedNanos.get();
    }

    /** Returns what was seen how often, by kind of operation. */
    Map<String, LongAdder> counts() {
        return new TreeMap<>(counts);
    }

    WriteBackJudge judge() {
        return judge;
    }

    void run(long operations) {
        for (long done = 0; done < operations; done += OPERATIONS_PER_STEP) {
            Step step = history.next();
            int at = step.number() % STEPS_PER_ROUND;
            try {
                if (at == round.restartAt) {
                    restart(round.kills);
                }
                run(step, round.isDown(at)
                        ? round.plan(seed + step.number())
                        : step.plan());
                if (at == STEPS_PER_ROUND - 1 || done + OPERATIONS_PER_STEP >= operations) {
                    settle(step);
                    round = Round.draw(rounds);
                }
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", step " + step.number() + ", "
                        + step.plan() + ", " + round + ": " + e.getMessage(), e);
            }
        }
        quiet("I4: room in the log",
                () -> gateway.metric("railhead_write_back_free_bytes") == gateway
                        .metric("railhead_write_back_capacity_bytes"));
    }

    private void run(Step step, FaultPlan plan) {
        if (!step.later().isZero()) {
            later(step.later());
        }
        proxy.plan(plan);
        List<Future<@Nullable String>> running = new ArrayList<>();
        for (Operation operation : step.operations()) {
            running.add(threads.submit(() -> run(operation)));
        }
        if (step.number() % 2 == 0) {
            call("retry").join();
        }
        for (Future<@Nullable String> each : running) {
            assertThat(await(each)).isNull();
        }
        quiet("I4: leases", () -> gateway.memory().leases() == 0);
        for (Operation operation : peers.unanswered()) {
            judge(operation, client.untold(operation), 0);
        }
        assertThat(peers.findLateWrite()).isNull();
        assertThat(store.violations()).isEmpty();
    }

    /**
     * Moves the clock. A store performs a request within a minute, or never: so none may be late by
     * the way that the clock goes.
     */
    private void later(Duration time) {
        proxy.plan(FaultPlan.NONE);
        quiet("late requests", proxy::isIdle);
        jumpedNanos.addAndGet(time.toNanos());
    }

    private @Nullable String run(Operation operation) {
        long from = nanoTime();
        return judge(operation, client.observe(operation), from);
    }

    private @Nullable String judge(Operation operation, Observation seen, long from) {
        String what = seen instanceof Observation.Written(String level)
                ? level
                : seen instanceof Observation.Failed(String how, boolean _)
                        && how.contains(WriteBackJudge.WAITED)
                                ? "Waited"
                                : seen.getClass().getSimpleName();
        counts.computeIfAbsent(operation.kind() + " " + what, _ -> new LongAdder()).increment();
        String wrong = judge.saw(new Sight(operation, seen, from, nanoTime()));
        return wrong == null ? null : operation + ": " + wrong;
    }

    private CompletableFuture<HttpResponse<byte[]>> call(String name) {
        return operator.sendAsync("POST", "/.railhead/admin/" + name,
                "{}".getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Ends the gateway and starts it again over the same log. A try that may still be performed is
     * forgotten then, so none is late.
     */
    private void restart(boolean kill) {
        proxy.plan(FaultPlan.NONE);
        quiet("late requests", proxy::isIdle);
        peers.close();
        if (kill) {
            disk.killAtOneMoment();
        }
        gateway.restart(config());
        peers = new ModelPeers(clients, SECRETS, OPERATIONS_PER_STEP + 1);
        client = new ModelClient(http, clients, peers, store);
    }

    /** The store gets everything, everybody reads everything, and all of it is judged. */
    private void settle(Step step) {
        later(DOUBT);
        CompletableFuture<HttpResponse<byte[]>> flushed = call("flush");
        Deadline normal = new Deadline(BACK_TO_NORMAL, spared);
        while (!isDone(flushed)) {
            assertThat(normal.isOver()).as("a flush takes longer than %s", BACK_TO_NORMAL)
                    .isFalse();
            call("retry").join();
        }
        assertThat(flushed.join().statusCode()).isEqualTo(200);
        assertThat(gateway.metric("railhead_write_back_pending")).isZero();
        readAll(step);
        List<String> wrong = judge.settled();
        assertThat(wrong.isEmpty()).as("%d wrong:%n%s", wrong.size(),
                String.join("\n", wrong.subList(0, Math.min(5, wrong.size())))).isTrue();
    }

    private static boolean isDone(CompletableFuture<?> call) {
        try {
            call.get(RETRY_MILLIS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new AssertionError("no answer to flush", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Nothing fails any more. */
    private void readAll(Step step) {
        for (String path : store.paths("/")) {
            for (int principal = 0; principal < clients.size(); principal++) {
                long from = nanoTime();
                Operation read = new Operation(OPERATIONS_PER_STEP, Kind.GET, principal, path, 0,
                        0, null, -step.number(), "", History.MAX_BYTES);
                Observation seen = client.observe(read);
                assertThat(judge(read, seen, from)).isNull();
                assertThat(seen).as("I3: %s", read)
                        .isInstanceOfAny(Observation.Read.class, Observation.Absent.class);
            }
        }
    }

    private void quiet(String what, BooleanSupplier isQuiet) {
        assertThat(new Deadline(BACK_TO_NORMAL, spared).isMetBy(isQuiet)).as(what).isTrue();
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

    @Override
    public void close() {
        threads.shutdown();
        peers.close();
        http.shutdownNow();
        gateway.close();
        proxy.close();
        disk.close();
    }
}
