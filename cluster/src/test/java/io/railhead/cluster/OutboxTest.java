package io.railhead.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutboxTest {
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Member B = new Member("1", "b");
    private static final Member C = new Member("2", "c");
    private static final byte[] CHANGE = {1};

    private final HandClock clock = new HandClock();
    private final Outbox outbox = new Outbox(LEASE, clock);

    @BeforeEach
    void join() {
        outbox.membersAre(new Membership("v", List.of(B, C)));
    }

    private static boolean isHeard(CompletionStage<?> stage) {
        return stage.toCompletableFuture().isDone();
    }

    private void acknowledge(Member from, Outbox.Entry entry) {
        outbox.applied(from, new Frame.Applied(entry.change().view(), entry.change().number()));
    }

    @Test
    void nobodyIsWaitedForAlone() {
        Outbox alone = new Outbox(LEASE, clock);
        alone.membersAre(new Membership("alone", List.of()));
        Outbox.Entry entry = alone.next(CHANGE, LEASE);
        assertThat(entry.hasReceivers()).isFalse();
        assertThat(isHeard(entry.heard())).isTrue();
    }

    @Test
    void aChangeIsHeardWhenAllHaveAcknowledgedIt() {
        Outbox.Entry first = outbox.next(CHANGE, LEASE);
        Outbox.Entry second = outbox.next(CHANGE, LEASE);
        assertThat(first.change().number()).isEqualTo(1);
        assertThat(second.change().number()).isEqualTo(2);
        acknowledge(B, first);
        acknowledge(B, first);
        acknowledge(C, second);
        assertThat(isHeard(first.heard())).isFalse();
        acknowledge(C, first);
        assertThat(isHeard(first.heard())).isTrue();
        assertThat(isHeard(second.heard())).isFalse();
        assertThat(outbox.unheard()).isZero();
    }

    @Test
    void withoutAnAcknowledgementItWaitsTheLeaseOutAndNotLonger() {
        Outbox.Entry entry = outbox.next(CHANGE, LEASE);
        acknowledge(B, entry);
        clock.pass(LEASE);
        outbox.tick();
        assertThat(isHeard(entry.heard())).isFalse();
        clock.pass(Duration.ofMillis(400));
        outbox.tick();
        assertThat(isHeard(entry.heard())).isTrue();
        assertThat(outbox.unheard()).isEqualTo(1);
    }

    @Test
    void aMemberThatWasLeftOutMayStillHoldALease() {
        Outbox.Entry before = outbox.next(CHANGE, LEASE);
        acknowledge(B, before);
        outbox.membersAre(new Membership("w", List.of(B)));
        assertThat(isHeard(before.heard())).isFalse();
        Outbox.Entry after = outbox.next(CHANGE, LEASE);
        assertThat(after.change()).extracting(Frame.Change::view, Frame.Change::number)
                .containsExactly("w", 1L);
        acknowledge(B, after);
        assertThat(isHeard(after.heard())).isFalse();
        clock.pass(LEASE.plusMillis(400));
        outbox.tick();
        assertThat(isHeard(before.heard())).isTrue();
        assertThat(isHeard(after.heard())).isTrue();
        Outbox.Entry later = outbox.next(CHANGE, LEASE);
        acknowledge(B, later);
        assertThat(isHeard(later.heard())).isTrue();
    }

    @Test
    void theLastMemberWaitsForThoseThatWereLeftOut() {
        outbox.membersAre(new Membership("alone", List.of()));
        Outbox.Entry entry = outbox.next(CHANGE, LEASE);
        assertThat(isHeard(entry.heard())).isFalse();
        clock.pass(LEASE.plusMillis(400));
        outbox.tick();
        assertThat(isHeard(entry.heard())).isTrue();
        assertThat(isHeard(outbox.next(CHANGE, LEASE).heard())).isTrue();
    }

    @Test
    void nobodyWaitsForWhoHasSaidFarewell() {
        Outbox.Entry entry = outbox.next(CHANGE, LEASE);
        acknowledge(B, entry);
        outbox.saidFarewell(C);
        assertThat(isHeard(entry.heard())).isTrue();
        Outbox.Entry next = outbox.next(CHANGE, LEASE);
        acknowledge(B, next);
        assertThat(isHeard(next.heard())).isTrue();
        outbox.membersAre(new Membership("w", List.of(B)));
        Outbox.Entry later = outbox.next(CHANGE, LEASE);
        acknowledge(B, later);
        assertThat(isHeard(later.heard())).isTrue();
    }

    @Test
    void onlyMembersOfTheSameViewAreAnswered() {
        outbox.next(CHANGE, LEASE);
        assertThat(outbox.lastIn("v", B)).hasValue(1);
        assertThat(outbox.lastIn("w", B)).isEmpty();
        assertThat(outbox.lastIn("v", new Member("3", "d"))).isEmpty();
    }

    @Test
    void itsEndEndsAllWaits() {
        Outbox.Entry entry = outbox.next(CHANGE, LEASE);
        outbox.end();
        assertThat(isHeard(entry.heard())).isTrue();
    }
}
