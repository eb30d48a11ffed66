package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelId;
import io.netty.channel.DefaultChannelId;
import io.railhead.gateway.auth.Authentication.Signed;
import io.railhead.gateway.auth.TestSignature;
import io.railhead.gateway.authorization.Replays.First;
import io.railhead.gateway.authorization.Replays.Judgement;
import io.railhead.gateway.authorization.Replays.Refused;
import io.railhead.gateway.authorization.Replays.Repeated;
import io.railhead.gateway.request.PeerConnection;
import io.railhead.gateway.s3.S3Error;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Repeats of signed requests: their senders and their time. */
class ReplaysTest {
    private static final Instant START = Instant.parse("2026-11-25T12:00:00.400Z");
    private static final InetAddress NODE = InetAddress.ofLiteral("10.0.0.7");
    private static final InetAddress OTHER_NODE = InetAddress.ofLiteral("10.0.0.8");
    private static final PeerConnection CONNECTION = cleartext(NODE);

    private Instant wall = START;
    private long nanos = 5;
    private boolean severalTenants;
    private final Replays replays = create(1000);

    private Replays create(int most) {
        return new Replays(Duration.ofSeconds(60), () -> severalTenants, () -> wall, () -> nanos,
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
        assertThat(replays.judge(once, CONNECTION)).isInstanceOf(First.class);
        for (int i = 0; i < 4; i++) {
            pass(Duration.ofMillis(500));
            assertThat(replays.judge(once, CONNECTION)).isInstanceOf(Repeated.class);
        }
        pass(Duration.ofNanos(1));
        assertReplayed(replays.judge(once, CONNECTION), "more than 2 seconds ago");
    }

    @Test
    void aLateRepeatIsRefusedAsLongAsItsDateIsAcceptable() {
        Signed early = TestSignature.of("ann", "a", START.plusSeconds(60));
        assertThat(replays.judge(early, CONNECTION)).isInstanceOf(First.class);
        pass(Duration.ofMinutes(2));
        replays.judge(signed("b"), CONNECTION);
        assertReplayed(replays.judge(early, CONNECTION), "more than 2 seconds ago");
        pass(Duration.ofSeconds(1));
        replays.judge(signed("c"), CONNECTION);
        assertRefused(replays.judge(early, CONNECTION), S3Error.RDMA_TOKEN_STALE, "60 seconds");
    }

    @Test
    void aPoolOfConnectionsMayRepeatWhereThereIsOneTenant() {
        replays.judge(signed("a"), CONNECTION);
        assertThat(replays.judge(signed("a"), cleartext(NODE))).isInstanceOf(Repeated.class);
    }

    @Test
    void amongSeveralTenantsOnlyTheSameConnectionMayRepeatInCleartext() {
        severalTenants = true;
        replays.judge(signed("a"), CONNECTION);
        assertReplayed(replays.judge(signed("a"), cleartext(NODE)), "several tenants");
        assertThat(replays.judge(signed("a"), CONNECTION)).isInstanceOf(Repeated.class);
    }

    @Test
    void amongSeveralTenantsAPoolMayRepeatOverTls() {
        severalTenants = true;
        replays.judge(signed("a"), overTls(NODE));
        assertThat(replays.judge(signed("a"), overTls(NODE))).isInstanceOf(Repeated.class);
        assertReplayed(replays.judge(signed("a"), cleartext(NODE)), "several tenants");
    }

    @Test
    void anotherAddressOrNoneMayNotRepeat() {
        replays.judge(signed("a"), overTls(NODE));
        assertReplayed(replays.judge(signed("a"), overTls(OTHER_NODE)), "from another peer");
        PeerConnection unknown = new PeerConnection(newId(), null, true);
        assertReplayed(replays.judge(signed("a"), unknown), "from another peer");
        replays.judge(signed("b"), unknown);
        assertReplayed(replays.judge(signed("b"), new PeerConnection(newId(), null, true)),
                "from another peer");
    }

    @Test
    void anotherPrincipalMayNotRepeat() {
        replays.judge(signed("a"), CONNECTION);
        assertReplayed(replays.judge(TestSignature.of("bob", "a", wall), CONNECTION),
                "from another peer");
    }

    @Test
    void aQueuePairIsPairedOnce() {
        assertThat(replays.judgeOnce(signed("a"), CONNECTION)).isInstanceOf(First.class);
        assertReplayed(replays.judgeOnce(signed("a"), CONNECTION), "paired once");
    }

    @Test
    void ofSimultaneousRequestsOneIsTheFirst() throws Exception {
        Signed once = signed("a");
        try (var threads = Executors.newFixedThreadPool(4)) {
            Callable<Judgement> judging = () -> replays.judge(once, cleartext(NODE));
            List<Judgement> all = threads.invokeAll(java.util.Collections.nCopies(64, judging))
                    .stream()
                    .map(java.util.concurrent.Future::resultNow)
                    .toList();
            assertThat(all).filteredOn(First.class::isInstance).hasSize(1);
            assertThat(all).filteredOn(Repeated.class::isInstance).hasSize(63);
        }
    }

    @Test
    void aStartRefusesDatesBeforeIt() {
        for (int age : new int[]{1, 30}) {
            assertRefused(
                    replays.judge(TestSignature.of("ann", "a" + age,
                            Instant.ofEpochSecond(START.getEpochSecond() - age)), CONNECTION),
                    S3Error.RDMA_TOKEN_STALE, "before the gateway's start");
        }
        pass(Duration.ofSeconds(10));
        assertRefused(
                replays.judge(TestSignature.of("ann", "late",
                        Instant.ofEpochSecond(START.getEpochSecond() - 1)), CONNECTION),
                S3Error.RDMA_TOKEN_STALE, "before the gateway's start");
    }

    @Test
    void theSecondOfTheStartIsAcceptedAndKnownToBeDoubtful() {
        Signed doubtful = signed("a");
        assertThat(replays.judge(doubtful, CONNECTION)).isInstanceOf(First.class);
        assertThat(replays.mayPrecedeStart(doubtful)).isTrue();
        pass(Duration.ofMillis(600));
        assertThat(replays.mayPrecedeStart(signed("b"))).isFalse();
        assertThat(replays.mayPrecedeStart(doubtful)).isTrue();
    }

    @Test
    void aWallClockThatIsSetRefusesNoNewDate() {
        wall = START.minusSeconds(3600);
        pass(Duration.ofSeconds(2));
        assertThat(replays.judge(signed("a"), CONNECTION)).isInstanceOf(First.class);
        assertThat(replays.mayPrecedeStart(signed("a"))).isFalse();
        wall = START.plusSeconds(3600);
        assertThat(replays.judge(signed("b"), CONNECTION)).isInstanceOf(First.class);
    }

    @Test
    void ofTooManyTheOldestAreForgottenAndTheirDatesRefused() {
        Replays few = create(2);
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
