package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelId;
import io.netty.channel.DefaultChannelId;
import io.railhead.gateway.authorization.ReplayGuard.First;
import io.railhead.gateway.authorization.ReplayGuard.Judgement;
import io.railhead.gateway.authorization.ReplayGuard.Refused;
import io.railhead.gateway.authorization.ReplayGuard.Repeated;
import io.railhead.gateway.request.PeerConnection;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.sigv4.Authentication.Signed;
import io.railhead.gateway.s3.sigv4.TestSignature;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Repeats of signed requests: their senders and their time. */
class ReplayGuardTest {
    private static final Instant START = Instant.parse("2026-11-25T12:00:00.400Z");
    private static final InetAddress NODE = InetAddress.ofLiteral("10.0.0.7");
    private static final InetAddress OTHER_NODE = InetAddress.ofLiteral("10.0.0.8");
    private static final PeerConnection CONNECTION = cleartext(NODE);

    private Instant wall = START;
    private long nanos = 5;
    private boolean severalTenants;
    private final ReplayGuard replayGuard = create(1000);

    private ReplayGuard create(int most) {
        return new ReplayGuard(Duration.ofSeconds(60), () -> severalTenants, () -> wall,
                () -> nanos,
                most);
    }

    private static PeerConnection cleartext(InetAddress address) {
        return new PeerConnection(newId(), address, false);
    }

    private static PeerConnection overTls(InetAddress address) {
        return new PeerConnection(newId(), address, true);
    }

    private static ChannelId newId() {
        return DefaultChannelId.newInstance();
    }

    private void pass(Duration time) {
        wall = wall.plus(time);
        nanos += time.toNanos();
    }

    /** Signed now: its date has whole seconds. */
    private Signed signed(String signature) {
        return TestSignature.of("ann", signature, Instant.ofEpochSecond(wall.getEpochSecond()));
    }

    private static void assertRefused(Judgement judgement, S3Error error, String reason) {
        assertThat(judgement).isInstanceOfSatisfying(Refused.class, refused -> {
            assertThat(refused.error().error()).isEqualTo(error);
            assertThat(refused.error()).hasMessageContaining(reason);
        });
    }

    private static void assertReplayed(Judgement judgement, String reason) {
        assertRefused(judgement, S3Error.RDMA_TOKEN_REPLAYED, reason);
    }

    @Test
    void aRepeatIsAcceptedForTwoSecondsFromTheFirst() {
        Signed once = signed("a");
        assertThat(replayGuard.judge(once, CONNECTION)).isInstanceOf(First.class);
        for (int i = 0; i < 4; i++) {
            pass(Duration.ofMillis(500));
            assertThat(replayGuard.judge(once, CONNECTION)).isInstanceOf(Repeated.class);
        }
        pass(Duration.ofNanos(1));
        assertReplayed(replayGuard.judge(once, CONNECTION), "more than 2 seconds ago");
    }

    @Test
    void aLateRepeatIsRefusedAsLongAsItsDateIsAcceptable() {
        Signed early = TestSignature.of("ann", "a", START.plusSeconds(60));
        assertThat(replayGuard.judge(early, CONNECTION)).isInstanceOf(First.class);
        pass(Duration.ofMinutes(2));
        replayGuard.judge(signed("b"), CONNECTION);
        assertReplayed(replayGuard.judge(early, CONNECTION), "more than 2 seconds ago");
        pass(Duration.ofSeconds(1));
        replayGuard.judge(signed("c"), CONNECTION);
        assertRefused(replayGuard.judge(early, CONNECTION), S3Error.RDMA_TOKEN_STALE, "60 seconds");
    }

    @Test
    void aPoolOfConnectionsMayRepeatWhereThereIsOneTenant() {
        replayGuard.judge(signed("a"), CONNECTION);
        assertThat(replayGuard.judge(signed("a"), cleartext(NODE))).isInstanceOf(Repeated.class);
    }

    @Test
    void amongSeveralTenantsOnlyTheSameConnectionMayRepeatInCleartext() {
        severalTenants = true;
        replayGuard.judge(signed("a"), CONNECTION);
        assertReplayed(replayGuard.judge(signed("a"), cleartext(NODE)), "several tenants");
        assertThat(replayGuard.judge(signed("a"), CONNECTION)).isInstanceOf(Repeated.class);
    }

    @Test
    void amongSeveralTenantsAPoolMayRepeatOverTls() {
        severalTenants = true;
        replayGuard.judge(signed("a"), overTls(NODE));
        assertThat(replayGuard.judge(signed("a"), overTls(NODE))).isInstanceOf(Repeated.class);
        assertReplayed(replayGuard.judge(signed("a"), cleartext(NODE)), "several tenants");
    }

    @Test
    void anotherAddressOrNoneMayNotRepeat() {
        replayGuard.judge(signed("a"), overTls(NODE));
        assertReplayed(replayGuard.judge(signed("a"), overTls(OTHER_NODE)), "from another peer");
        PeerConnection unknown = new PeerConnection(newId(), null, true);
        assertReplayed(replayGuard.judge(signed("a"), unknown), "from another peer");
        replayGuard.judge(signed("b"), unknown);
        assertReplayed(replayGuard.judge(signed("b"), new PeerConnection(newId(), null, true)),
                "from another peer");
    }

    @Test
    void anotherPrincipalMayNotRepeat() {
        replayGuard.judge(signed("a"), CONNECTION);
        assertReplayed(replayGuard.judge(TestSignature.of("bob", "a", wall), CONNECTION),
                "from another peer");
    }

    @Test
    void aQueuePairIsPairedOnce() {
        assertThat(replayGuard.judgeOnce(signed("a"), CONNECTION)).isInstanceOf(First.class);
        assertReplayed(replayGuard.judgeOnce(signed("a"), CONNECTION), "paired once");
    }

    @Test
    void ofSimultaneousRequestsOneIsTheFirst() throws Exception {
        Signed once = signed("a");
        try (var threads = Executors.newFixedThreadPool(4)) {
            Callable<Judgement> judging = () -> replayGuard.judge(once, cleartext(NODE));
            List<Judgement> all = threads.invokeAll(Collections.nCopies(64, judging))
                    .stream()
                    .map(Future::resultNow)
                    .toList();
            assertThat(all).filteredOn(First.class::isInstance).hasSize(1);
            assertThat(all).filteredOn(Repeated.class::isInstance).hasSize(63);
        }
    }

    @Test
    void aStartRefusesDatesBeforeIt() {
        for (int age : new int[]{1, 30}) {
            assertRefused(
                    replayGuard.judge(TestSignature.of("ann", "a" + age,
                            Instant.ofEpochSecond(START.getEpochSecond() - age)), CONNECTION),
                    S3Error.RDMA_TOKEN_STALE, "before the gateway's start");
        }
        pass(Duration.ofSeconds(10));
        assertRefused(
                replayGuard.judge(TestSignature.of("ann", "late",
                        Instant.ofEpochSecond(START.getEpochSecond() - 1)), CONNECTION),
                S3Error.RDMA_TOKEN_STALE, "before the gateway's start");
    }

    @Test
    void theSecondOfTheStartIsAcceptedAndKnownToBeDoubtful() {
        Signed doubtful = signed("a");
        assertThat(replayGuard.judge(doubtful, CONNECTION)).isInstanceOf(First.class);
        assertThat(replayGuard.mayPrecedeStart(doubtful)).isTrue();
        pass(Duration.ofMillis(600));
        assertThat(replayGuard.mayPrecedeStart(signed("b"))).isFalse();
        assertThat(replayGuard.mayPrecedeStart(doubtful)).isTrue();
    }

    @Test
    void aWallClockThatIsSetRefusesNoNewDate() {
        wall = START.minusSeconds(3600);
        pass(Duration.ofSeconds(2));
        assertThat(replayGuard.judge(signed("a"), CONNECTION)).isInstanceOf(First.class);
        assertThat(replayGuard.mayPrecedeStart(signed("a"))).isFalse();
        wall = START.plusSeconds(3600);
        assertThat(replayGuard.judge(signed("b"), CONNECTION)).isInstanceOf(First.class);
    }

    @Test
    void ofTooManyTheOldestAreForgottenAndTheirDatesRefused() {
        ReplayGuard few = create(2);
        Signed first = signed("a");
        few.judge(first, CONNECTION);
        pass(Duration.ofSeconds(3));
        Signed second = signed("b");
        few.judge(second, CONNECTION);
        pass(Duration.ofSeconds(3));
        few.judge(signed("c"), CONNECTION);
        assertRefused(few.judge(first, CONNECTION), S3Error.RDMA_TOKEN_STALE,
                "the oldest request that it remembers");
        assertThat(few.judge(signed("c"), CONNECTION)).isInstanceOf(Repeated.class);
    }
}
