package io.railhead.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three members over a network that loses what a test says. */
class ClusterTest {
    private static final Duration LEASE = Duration.ofMillis(400);
    private static final Member A = new Member("1", "a");
    private static final Member B = new Member("2", "b");
    private static final Member C = new Member("3", "c");

    private static final CompletionStage<Boolean> DONE = CompletableFuture.completedStage(true);

    private final FakeNetwork network = new FakeNetwork();
    private final List<Cluster> clusters = new ArrayList<>();
    private final List<String> appliedAtB = new CopyOnWriteArrayList<>();
    private final List<String> appliedAtC = new CopyOnWriteArrayList<>();
    private final Cluster a = cluster(A, Map.of("cache.page", "256KiB"));
    private final Cluster b = cluster(B, Map.of("cache.page", "256KiB"));
    private final Cluster c = cluster(C, Map.of("cache.page", "1MiB", "cache.run", "8MiB"));

    private Cluster cluster(Member member, Map<String, String> facts) {
        return cluster(member, facts, 7800, List.of());
    }

    private Cluster cluster(Member member, Map<String, String> facts, int port,
            List<Integer> listed) {
        ClusterConfig config = new ClusterConfig("test", member.name(),
                new ClusterConfig.Address("127.0.0.1", port),
                new ClusterConfig.Discovery.Fixed(listed.stream()
                        .map(each -> new ClusterConfig.Address("localhost", each))
                        .toList()),
                LEASE, facts);
        Cluster cluster = new Cluster(config, network.link(member), System::nanoTime);
        clusters.add(cluster);
        return cluster;
    }

    @BeforeEach
    void join() {
        a.join(_ -> DONE);
        b.join(change -> noted(appliedAtB, change));
        c.join(change -> noted(appliedAtC, change));
        network.view("v", A, B, C);
        await(() -> clusters.stream()
                .allMatch(each -> each.state().view().equals("v") && each.state().isLeaseHeld()));
    }

    @AfterEach
    void close() {
        clusters.forEach(Cluster::close);
        network.close();
    }

    private static void await(BooleanSupplier condition) {
        Instant deadline = Instant.now().plus(Duration.ofSeconds(20));
        while (!condition.getAsBoolean()) {
            assertThat(Instant.now()).as("deadline").isBefore(deadline);
            Thread.onSpinWait();
        }
    }

    private static CompletionStage<Boolean> noted(List<String> applied, byte[] change) {
        applied.add(new String(change));
        return DONE;
    }

    private CompletableFuture<Boolean> tell(String change) {
        return a.tell(change.getBytes()).toCompletableFuture();
    }

    @Test
    void aChangeIsAppliedEverywhereBeforeItsWriterGoesOn() {
        tell("1").join();
        assertThat(appliedAtB).containsExactly("1");
        assertThat(appliedAtC).containsExactly("1");
        assertThat(a.state().unheard()).isZero();
        assertThat(b.state().applied()).isEqualTo(1);
    }

    @Test
    void changesAreAppliedInTheirOrder() {
        List<CompletableFuture<Boolean>> told = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            told.add(tell(Integer.toString(i)));
            expected.add(Integer.toString(i));
        }
        CompletableFuture.allOf(told.toArray(CompletableFuture[]::new)).join();
        assertThat(appliedAtB).isEqualTo(expected);
        assertThat(b.state().gaps()).isZero();
    }

    /** C serves nothing unasked by the time that the writer goes on without it. */
    @Test
    void aWriterWaitsUntilWhoDoesNotHearHasNoLease() {
        long learnt = System.nanoTime();
        await(() -> c.covers(learnt));
        network.cut(A, C);
        CompletableFuture<Boolean> coveredAtC = tell("1").thenApply(_ -> c.covers(learnt))
                .toCompletableFuture();
        assertThat(coveredAtC.join()).isFalse();
        assertThat(appliedAtB).containsExactly("1");
        assertThat(appliedAtC).isEmpty();
        assertThat(a.state().unheard()).isEqualTo(1);
        assertThat(b.covers(learnt)).as("B hears all").isTrue();
    }

    /** Its answers still come, but name a change that never does. */
    @Test
    void aMemberThatMissesAChangeAloneLosesItsLease() {
        long learnt = System.nanoTime();
        await(() -> c.covers(learnt));
        network.lose(frame -> frame instanceof Frame.Change);
        CompletableFuture<Boolean> coveredAtC = tell("1").thenApply(_ -> c.covers(learnt))
                .toCompletableFuture();
        assertThat(coveredAtC.join()).isFalse();
        network.heal();
        tell("2").join();
        assertThat(c.state().gaps()).isEqualTo(1);
        await(() -> c.state().isLeaseHeld());
        assertThat(c.covers(learnt)).as("learnt before the gap").isFalse();
    }

    @Test
    void whoIsHeardButDoesNotHearServesNothing() {
        long learnt = System.nanoTime();
        await(() -> a.covers(learnt) && c.covers(learnt));
        network.cut(C, A);
        await(() -> !a.state().isLeaseHeld() && !c.state().isLeaseHeld());
        assertThat(b.state().isLeaseHeld()).isTrue();
        network.heal();
        await(() -> a.state().isLeaseHeld() && c.state().isLeaseHeld());
        assertThat(c.covers(learnt)).as("nothing was missed").isTrue();
    }

    @Test
    void bothHalvesGoOnAndAskEverythingOnceAfterwards() {
        long learnt = System.nanoTime();
        await(() -> b.covers(learnt));
        network.cut(A, C);
        network.cut(C, A);
        network.cut(B, C);
        network.cut(C, B);
        network.view("half", A, B);
        network.view("other", C);
        await(() -> b.state().view().equals("half") && c.state().view().equals("other"));
        await(() -> a.state().isLeaseHeld() && b.state().isLeaseHeld() && c.state().isLeaseHeld());
        assertThat(b.covers(learnt)).isFalse();
        assertThat(c.covers(learnt)).isFalse();
        long apart = System.nanoTime();
        tell("missed by c").join();
        network.heal();
        network.view("merged", A, B, C);
        await(() -> c.state().view().equals("merged") && c.state().isLeaseHeld());
        assertThat(c.covers(apart)).isFalse();
        assertThat(c.covers(System.nanoTime())).isTrue();
    }

    @Test
    void whoLeavesInOrderIsNotWaitedFor() {
        c.close();
        tell("1").join();
        network.view("without", A, B);
        await(() -> a.state().view().equals("without"));
        tell("2").join();
        assertThat(a.state().unheard()).isZero();
        assertThat(c.covers(System.nanoTime())).isFalse();
    }

    @Test
    void aChangeThatCannotBeAppliedIsNotAcknowledged() {
        Member d = new Member("4", "d");
        Cluster broken = cluster(d, Map.of());
        broken.join(_ -> {
            throw new IllegalArgumentException("not understood");
        });
        network.view("w", A, d);
        await(() -> a.state().view().equals("w") && broken.state().isLeaseHeld());
        long before = System.nanoTime();
        tell("1").join();
        assertThat(a.state().unheard()).isEqualTo(1);
        assertThat(broken.state().refusedFrames()).isEqualTo(1);
        // The lease may be held again by now, for what is learnt later.
        assertThat(broken.covers(before)).isFalse();
    }

    /** A view has no quorum: a gateway that is listed and not seen may be serving. */
    @Test
    void aListedGatewayThatIsNotSeenSuspendsServingUnasked() {
        Member d = new Member("4", "d");
        Member e = new Member("5", "e");
        Cluster first = cluster(d, Map.of(), 7801, List.of(7801, 7802));
        Cluster second = cluster(e, Map.of(), 7802, List.of(7801, 7802));
        first.join(_ -> DONE);
        second.join(_ -> DONE);
        network.view("alone", d);
        await(() -> first.state().view().equals("alone"));
        assertThat(first.covers(System.nanoTime())).isFalse();
        network.view("both", d, e);
        await(() -> first.state().isLeaseHeld() && second.state().isLeaseHeld());
        network.view("alone again", d);
        await(() -> first.state().view().equals("alone again"));
        assertThat(first.state().isLeaseHeld()).isFalse();
    }

    @Test
    void aChangeThatOneMemberCannotApplyIsNotAppliedByAll() {
        assertThat(tell("1").join()).isTrue();
        network.cut(A, C);
        assertThat(tell("2").join()).isFalse();
    }

    @Test
    void differentConfigurationsAreNamed() {
        await(() -> a.state()
                .peers()
                .stream()
                .anyMatch(each -> each.member().equals(C)
                        && each.differing().equals(List.of("cache.page", "cache.run"))));
        assertThat(a.state().peers()).filteredOn(each -> each.member().equals(B))
                .allSatisfy(each -> assertThat(each.differing()).isEmpty());
    }
}
