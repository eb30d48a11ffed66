package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendConfig.Fetches;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** How many fetches go to a store at a time. */
class FetchGateTest {
    private static final long MILLI = 1_000_000;
    private static final int MANY = 4000;
    private static final FetchTurn ANYBODY = FetchTurn.wanted("anybody");

    /** A store in its own time, which more fetches than it can bear make slow, or make refuse. */
    private static final class Store {
        private final FetchGate gate;
        private final PriorityQueue<Fetch> underWay = new PriorityQueue<>(
                Comparator.comparingLong(Fetch::endsAt));
        private long now;
        private int bears = Integer.MAX_VALUE;
        private boolean refuses;
        private int most;
        private int answered;

        record Fetch(long beganAt, long endsAt, boolean refused) {}

        Store(Fetches bounds) {
            gate = new FetchGate(bounds);
        }

        /** As many as there are; as soon as one is refused it comes again. */
        void serve(int count) {
            answered = 0;
            most = 0;
            for (int i = 0; i < count; i++) {
                gate.enter(ANYBODY, this::begin);
            }
            while (!underWay.isEmpty()) {
                end(underWay.remove());
            }
            assertThat(answered).isEqualTo(count);
            assertThat(gate.state().underWay()).isZero();
            assertThat(gate.state().waiting()).isZero();
        }

        private void begin() {
            int others = underWay.size();
            most = Math.max(most, others + 1);
            boolean tooMany = others >= bears;
            long takes = tooMany && !refuses ? 100 * MILLI : 10 * MILLI;
            underWay.add(new Fetch(now, now + takes, tooMany && refuses));
        }

        private void end(Fetch fetch) {
            now = fetch.endsAt();
            if (fetch.refused()) {
                gate.refused();
                gate.enter(ANYBODY, this::begin);
            } else {
                gate.answered(now - fetch.beganAt());
                answered++;
            }
            gate.left();
        }

        int limit() {
            return gate.state().limit();
        }
    }

    @Test
    void whatAStoreStandsIsUsed() {
        Store store = new Store(new Fetches(4, 64));
        int first = store.limit();

        store.serve(MANY);

        assertThat(store.limit()).isGreaterThan(first).isLessThanOrEqualTo(64);
        assertThat(store.most).isEqualTo(store.limit());
        store.serve(10 * MANY);
        assertThat(store.limit()).isEqualTo(64);
    }

    @Test
    void nobodyIsTrustedWithMoreThanItWasEverAsked() {
        Store store = new Store(new Fetches(4, 64));
        int first = store.limit();
        for (int i = 0; i < MANY; i++) {
            store.serve(3);
        }
        assertThat(store.limit()).isEqualTo(first);
    }

    @Test
    void aStoreThatRefusesIsAskedForLessAndThenForMoreAgain() {
        Store store = new Store(new Fetches(4, 64));
        store.serve(MANY);
        int before = store.limit();
        store.bears = 8;
        store.refuses = true;

        store.serve(MANY);
        // Up by one until it is too much, and then half of that.
        assertThat(store.limit()).isBetween(4, 9);

        store.bears = Integer.MAX_VALUE;
        store.serve(MANY);
        assertThat(store.limit()).isGreaterThanOrEqualTo(before);
    }

    @Test
    void refusalsOfWhatWasUnderWayAlreadyCountOnce() {
        FetchLimit limit = new FetchLimit(new Fetches(1, 64));
        int before = limit.now();
        for (int left = before; left > 0; left--) {
            limit.refused(left - 1);
        }
        assertThat(limit.now()).isEqualTo(before / 2);
        limit.refused(0);
        assertThat(limit.now()).isEqualTo(before / 4);
    }

    @Test
    void aSlowStoreIsAskedForLessDownToTheLeastAndGetsWellAgain() {
        Store store = new Store(new Fetches(4, 64));
        store.serve(MANY);
        int before = store.limit();
        // All take long, as where others load the store.
        store.bears = 0;

        store.serve(400);
        assertThat(store.limit()).isLessThan(before / 2).isGreaterThanOrEqualTo(4);

        store.bears = Integer.MAX_VALUE;
        store.serve(MANY);
        assertThat(store.limit()).isGreaterThanOrEqualTo(before);
    }

    @Test
    void aStoreThatStaysSlowIsWhatItIs() {
        Store store = new Store(new Fetches(4, 64));
        store.serve(100);
        store.bears = 0;
        store.serve(MANY);
        assertThat(store.limit()).isGreaterThan(32);
    }

    @Test
    void soManyFetchesAtATimeReachTheStoreAndAllAreAnswered() {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger asked = new AtomicInteger();
        Script sometimesBusy = (request, line) -> {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            underWay.decrementAndGet();
            boolean refused = asked.incrementAndGet() % 5 == 0;
            line.write("HTTP/1.1 " + (refused ? "503 Slow Down" : "206 Partial Content")
                    + "\r\nContent-Length: 4\r\nContent-Range: bytes 0-3/4\r\n\r\n",
                    new byte[4]);
        };
        try (ScriptedStore store = new ScriptedStore(sometimesBusy);
                AwsBackend backend = ScriptedBackend
                        .over(USUAL.answering(ScriptedBackend.LONG).attempting(10), store)) {
            int limit = backend.stats().fetchLimit();
            List<CompletionStage<byte[]>> answers = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                CompletionStage<BackendResponse> answer = backend.fetch(Requests.rangedGet(
                        calls(backend).target("k", null), calls(backend).caller(), 0, 4, null),
                        ANYBODY);
                answers.add(answer.thenCompose(head -> {
                    assertThat(head.status()).isEqualTo(206);
                    return BodyDrain.collect(head.body(), 4);
                }));
            }
            for (CompletionStage<byte[]> answer : answers) {
                assertThat(Calls.await(answer)).hasSize(4);
            }
            // The last one leaves after its reader has the bytes.
            ScriptedBackend.await(() -> backend.stats().fetchesUnderWay() == 0);
            assertThat(backend.stats().fetchesWaiting()).isZero();
            assertThat(most.get()).isBetween(1, limit);
            assertThat(backend.stats().retries()).isPositive();
        }
    }

    @Test
    void aFetchThatThrowsKeepsNobodyWaiting() {
        FetchGate gate = new FetchGate(new Fetches(4, 64));
        assertThatThrownBy(() -> gate.enter(ANYBODY, () -> {
            throw new IllegalStateException("closed");
        })).hasMessage("closed");

        AtomicInteger begun = new AtomicInteger();
        gate.enter(ANYBODY, begun::incrementAndGet);
        assertThat(begun).hasValue(1);
    }

    /** What a full gate begins as one place after another becomes free. */
    private static List<String> begunInTurn(Consumer<BiConsumer<FetchTurn, String>> waiting) {
        FetchGate gate = new FetchGate(new Fetches(1, 1));
        gate.enter(ANYBODY, () -> {});
        List<String> begun = new ArrayList<>();
        waiting.accept((turn, name) -> gate.enter(turn, () -> begun.add(name)));
        for (int left = gate.state().waiting(); left > 0; left--) {
            gate.left();
        }
        return begun;
    }

    @Test
    void tenantsTakeTurnsHoweverManyOneSends() {
        assertThat(begunInTurn(waiting -> {
            for (int i = 1; i <= 5; i++) {
                waiting.accept(FetchTurn.wanted("flood"), "flood " + i);
            }
            waiting.accept(FetchTurn.wanted("one"), "one 1");
            waiting.accept(FetchTurn.wanted("other"), "other 1");
            waiting.accept(FetchTurn.wanted("one"), "one 2");
        })).containsExactly("flood 1", "one 1", "other 1", "flood 2", "one 2", "flood 3",
                "flood 4", "flood 5");
    }

    @Test
    void whatIsReadAheadHasOneTurnInFour() {
        assertThat(begunInTurn(waiting -> {
            for (int i = 1; i <= 4; i++) {
                waiting.accept(FetchTurn.ahead("one"), "ahead " + i);
            }
            for (int i = 1; i <= 6; i++) {
                waiting.accept(FetchTurn.wanted("one"), "wanted " + i);
            }
        })).containsExactly("wanted 1", "wanted 2", "ahead 1", "wanted 3", "wanted 4", "wanted 5",
                "ahead 2", "wanted 6", "ahead 3", "ahead 4");
    }

    @Test
    void whatNeedNotWaitDoesNot() {
        Script never = (request, line) -> line.awaitClosed();
        try (ScriptedStore store = new ScriptedStore(never);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            for (int i = 0; i < 5; i++) {
                var _ = backend.fetch(Requests.rangedGet(calls(backend).target("k", null),
                        calls(backend).caller(), 0, 4, null), ANYBODY);
            }
            ScriptedBackend.await(() -> store.received().size() == backend.stats().fetchLimit());
            assertThat(backend.stats().fetchesWaiting())
                    .isEqualTo(5 - backend.stats().fetchLimit());

            var _ = backend.send(Requests.get(calls(backend).target("other", null),
                    calls(backend).caller(), Headers.NONE));
            ScriptedBackend.await(
                    () -> store.received().size() == backend.stats().fetchLimit() + 1);
        }
    }
}
