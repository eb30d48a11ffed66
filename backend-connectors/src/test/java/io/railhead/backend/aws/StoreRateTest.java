package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.Headers;
import io.railhead.backend.Rate;
import io.railhead.backend.Requests;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests and bytes that go to a store in a second. */
class StoreRateTest {
    private static final long SECOND = 1_000_000_000;
    private static final FetchTurn ANYBODY = FetchTurn.wanted("anybody");

    private final PriorityQueue<Timed> timed = new PriorityQueue<>(
            (a, b) -> Long.compare(a.atNanos(), b.atNanos()));
    private final List<Long> begun = new ArrayList<>();
    private long now;

    private record Timed(long atNanos, Runnable task) {}

    private record Counted(Runnable task, BooleanSupplier over) implements StoreRate.Attempt {
        @Override
        public boolean isOver() {
            return over.getAsBoolean();
        }

        @Override
        public void run() {
            task.run();
        }
    }

    private StoreRate rate(long requests, long bytes) {
        return requireNonNull(StoreRate.of(new Rate(requests, bytes),
                (task, nanos) -> timed.add(new Timed(now + nanos, task)), () -> now));
    }

    private void enter(StoreRate rate) {
        assertThat(rate.tryEnter(ANYBODY, new Counted(() -> begun.add(now), () -> false)))
                .isTrue();
    }

    private void pass(long nanos) {
        long until = now + nanos;
        while (!timed.isEmpty() && timed.peek().atNanos() <= until) {
            Timed next = timed.remove();
            now = Math.max(now, next.atNanos());
            next.task().run();
        }
        now = until;
    }

    @Test
    void aStoreWithoutALimitHasNoRate() {
        assertThat(StoreRate.of(Rate.NONE, (_, _) -> {}, () -> 0)).isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void inNoSecondMoreRequestsBeginThanASecondsWorthAndWhatIsStored(long seed) {
        Random random = new Random(seed);
        int perSecond = 1 + random.nextInt(50);
        StoreRate rate = rate(perSecond, 0);
        for (int i = 0; i < 1000; i++) {
            enter(rate);
            pass(random.nextLong(2 * SECOND / perSecond));
        }
        pass(2000 * SECOND);
        assertThat(begun).hasSize(1000);
        assertThat(rate.waiting()).isZero();
        for (int first = 0; first < begun.size(); first++) {
            for (int last = first; last < begun.size(); last++) {
                double seconds = (begun.get(last) - begun.get(first)) / 1e9;
                assertThat(last - first + 1.0).as("seed %d", seed)
                        .isLessThanOrEqualTo(perSecond * (1 + seconds) + 1e-3);
            }
        }
    }

    @Test
    void nothingWaitsLongerThanItMust() {
        StoreRate rate = rate(10, 0);
        for (int i = 0; i < 40; i++) {
            enter(rate);
        }
        assertThat(begun).hasSize(10);
        assertThat(rate.delayed()).isEqualTo(30);
        pass(3 * SECOND + 1000);
        assertThat(begun).hasSize(40);
    }

    @Test
    void bytesThatMovedArePaidBackBeforeTheNextRequest() {
        StoreRate rate = rate(0, 1000);
        enter(rate);
        rate.moved(3000);
        enter(rate);
        assertThat(begun).hasSize(1);
        pass(2 * SECOND);
        assertThat(begun).hasSize(1);
        pass(SECOND / 1000);
        assertThat(begun).hasSize(2);
    }

    @Test
    void tenantsTakeTurns() {
        StoreRate rate = rate(1, 0);
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            rate.tryEnter(FetchTurn.wanted("flood"),
                    new Counted(() -> order.add("flood"), () -> false));
        }
        rate.tryEnter(FetchTurn.wanted("one"), new Counted(() -> order.add("one"), () -> false));
        pass(5 * SECOND);
        assertThat(order).containsExactly("flood", "flood", "one", "flood", "flood");
    }

    @Test
    void whoHasGivenUpTakesNothing() {
        StoreRate rate = rate(1, 0);
        List<String> ended = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            rate.tryEnter(ANYBODY, new Counted(() -> ended.add("over"), () -> true));
        }
        assertThat(ended).hasSize(1000);
        enter(rate);
        assertThat(begun).hasSize(1);
    }

    @Test
    void onlySoManyWait() {
        StoreRate rate = rate(1, 0);
        int taken = 0;
        while (rate.tryEnter(ANYBODY, new Counted(() -> {}, () -> false))) {
            taken++;
        }
        assertThat(taken).isEqualTo(rate.waiting() + 1);
    }

    @Test
    void anAttemptThatThrowsKeepsNobodyWaiting() {
        StoreRate rate = rate(10, 0);
        assertThatThrownBy(() -> rate.tryEnter(ANYBODY, new Counted(() -> {
            throw new IllegalStateException("closed");
        }, () -> false))).hasMessage("closed");
        enter(rate);
        assertThat(begun).hasSize(1);
    }

    /** Retries, fetches and all other requests together. */
    @Test
    void theStoreNeverGetsMore() {
        int perSecond = 50;
        List<Long> seen = new CopyOnWriteArrayList<>();
        Script sometimesBusy = (request, line) -> {
            seen.add(System.nanoTime());
            boolean refused = seen.size() % 7 == 0;
            line.write("HTTP/1.1 " + (refused ? "503 Slow Down" : "206 Partial Content")
                    + "\r\nContent-Length: 4\r\nContent-Range: bytes 0-3/4\r\n\r\n",
                    new byte[4]);
        };
        long startNanos = System.nanoTime();
        try (ScriptedStore store = new ScriptedStore(sometimesBusy);
                AwsBackend backend = ScriptedBackend.over(USUAL.answering(ScriptedBackend.LONG)
                        .attempting(10)
                        .allowing(new Rate(perSecond, 0)), store)) {
            List<CompletionStage<byte[]>> answers = new ArrayList<>();
            for (int i = 0; i < 120; i++) {
                CompletionStage<BackendResponse> answer = i % 2 == 0
                        ? backend.fetch(Requests.rangedGet(calls(backend).target("k", null),
                                calls(backend).caller(), 0, 4, null), ANYBODY)
                        : backend.send(Requests.get(calls(backend).target("k", null),
                                calls(backend).caller(), Headers.NONE));
                answers.add(answer.thenCompose(head -> BodyDrain.collect(head.body(), 4)));
            }
            for (CompletionStage<byte[]> answer : answers) {
                assertThat(Calls.await(answer)).hasSize(4);
            }
            assertThat(backend.stats().retries()).isPositive();
            assertThat(backend.stats().rateDelayed()).isPositive();
            assertThat(backend.stats().rateWaiting()).isZero();
        }
        for (int i = 0; i < seen.size(); i++) {
            assertThat(i + 1.0).isLessThanOrEqualTo(
                    perSecond * (1 + (seen.get(i) - startNanos) / 1e9) + 1);
        }
    }

    @Test
    void whoWaitsForTheRateUntilItsTimeIsOverIsToldSo() {
        Script small = (request, line) -> line
                .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", new byte[0]);
        try (ScriptedStore store = new ScriptedStore(small);
                AwsBackend backend = ScriptedBackend.over(USUAL
                        .answering(Duration.ofMillis(100))
                        .allowing(new Rate(1, 0)), store)) {
            List<Throwable> failures = new CopyOnWriteArrayList<>();
            List<CompletionStage<?>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(backend.send(Requests.get(calls(backend).target("k", null),
                        calls(backend).caller(), Headers.NONE)).whenComplete((_, failure) -> {
                            if (failure != null) {
                                failures.add(failure);
                            }
                        }));
            }
            ScriptedBackend.await(
                    () -> all.stream().allMatch(each -> each.toCompletableFuture().isDone()));
            assertThat(failures)
                    .anySatisfy(failure -> assertThat(HttpFailures.translate(failure))
                            .isInstanceOfSatisfying(BackendException.class,
                                    cause -> assertThat(cause.reason()).isEqualTo(
                                            BackendException.Reason.RATE_LIMITED)));
            assertThat(backend.isReachable()).isTrue();
        }
    }
}
