package io.railhead.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ServingLeaseTest {
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Member B = new Member("1", "b");
    private static final Member C = new Member("2", "c");

    private final HandClock clock = new HandClock();
    private final ServingLease lease = new ServingLease(LEASE, clock);

    @BeforeEach
    void join() {
        lease.membersAre(new Membership("v", List.of(B, C)));
    }

    private void answer(Member from, long askedAtNanos, long last) {
        lease.answered(from, new Frame.Answer("v", askedAtNanos, last));
    }

    /** Both have answered, and time has passed since. */
    private long learntAfterWholeLease() {
        answer(B, clock.getAsLong(), 0);
        answer(C, clock.getAsLong(), 0);
        clock.pass(Duration.ofMillis(1));
        return clock.getAsLong();
    }

    @Test
    void nothingIsCoveredBeforeAView() {
        assertThat(new ServingLease(LEASE, clock).covers(clock.getAsLong())).isFalse();
    }

    @Test
    void aMemberThatIsAloneServesWhatItHasLearntSince() {
        lease.membersAre(new Membership("alone", List.of()));
        assertThat(lease.covers(clock.getAsLong())).isFalse();
        clock.pass(Duration.ofHours(1));
        assertThat(lease.covers(clock.getAsLong())).isTrue();
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void itNeedsAnAnswerOfEachMember() {
        answer(B, clock.getAsLong(), 0);
        clock.pass(Duration.ofMillis(1));
        assertThat(lease.covers(clock.getAsLong())).isFalse();
        answer(C, clock.getAsLong(), 0);
        clock.pass(Duration.ofMillis(1));
        assertThat(lease.covers(clock.getAsLong())).isTrue();
    }

    @Test
    void itEndsWithTheOldestQuestionAndNotWithTheAnswer() {
        long asked = clock.getAsLong();
        clock.pass(Duration.ofMillis(1500));
        answer(B, asked, 0);
        answer(C, clock.getAsLong(), 0);
        clock.pass(Duration.ofMillis(499));
        assertThat(lease.covers(clock.getAsLong())).isTrue();
        clock.pass(Duration.ofMillis(1));
        assertThat(lease.covers(clock.getAsLong())).isFalse();
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void aPausedGatewayFindsItsLeaseGone() {
        long learnt = learntAfterWholeLease();
        assertThat(lease.covers(learnt)).isTrue();
        clock.pass(Duration.ofMinutes(1));
        assertThat(lease.covers(learnt)).isFalse();
    }

    @Test
    void anAnswerAfterALapseCoversWhatWasLearntBefore() {
        long learnt = learntAfterWholeLease();
        clock.pass(Duration.ofMinutes(1));
        answer(B, clock.getAsLong(), 0);
        answer(C, clock.getAsLong(), 0);
        assertThat(lease.covers(learnt)).isTrue();
    }

    @Test
    void anAnswerThatNamesAChangeWhichIsNotAppliedHereGivesNoLease() {
        long learnt = learntAfterWholeLease();
        clock.pass(Duration.ofSeconds(1));
        answer(B, clock.getAsLong(), 1);
        answer(C, clock.getAsLong(), 0);
        clock.pass(Duration.ofMillis(1500));
        assertThat(lease.covers(learnt)).isFalse();
        assertThat(lease.applied(B, "v", 1)).isTrue();
        answer(B, clock.getAsLong(), 1);
        answer(C, clock.getAsLong(), 0);
        assertThat(lease.covers(learnt)).isTrue();
    }

    /** Nothing more may follow that would show the gap. */
    @Test
    void aChangeThatNeverComesIsGivenUpAndUncoversAll() {
        long learnt = learntAfterWholeLease();
        answer(B, clock.getAsLong(), 1);
        clock.pass(LEASE.minusMillis(1));
        answer(B, clock.getAsLong(), 1);
        answer(C, clock.getAsLong(), 0);
        clock.pass(Duration.ofMillis(1));
        assertThat(lease.isHeld()).isFalse();
        answer(B, clock.getAsLong(), 1);
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.gaps()).isEqualTo(1);
        assertThat(lease.covers(learnt)).isFalse();
        clock.pass(Duration.ofMillis(1));
        assertThat(lease.covers(clock.getAsLong())).as("learnt since").isTrue();
        assertThat(lease.applied(B, "v", 1)).as("late").isTrue();
        assertThat(lease.applied(B, "v", 2)).isTrue();
    }

    @Test
    void changesThatComeOneBehindTheOtherAreNotGivenUp() {
        long learnt = learntAfterWholeLease();
        for (int i = 1; i < 100; i++) {
            answer(B, clock.getAsLong(), i);
            clock.pass(Duration.ofMillis(100));
            lease.applied(B, "v", i);
        }
        assertThat(lease.gaps()).isZero();
        answer(B, clock.getAsLong(), 99);
        answer(C, clock.getAsLong(), 0);
        assertThat(lease.covers(learnt)).isTrue();
    }

    @Test
    void anotherViewCoversNothingOfBefore() {
        long learnt = learntAfterWholeLease();
        lease.membersAre(new Membership("w", List.of(B)));
        assertThat(lease.covers(learnt)).isFalse();
        answer(B, clock.getAsLong(), 0);
        assertThat(lease.isHeld()).as("an answer under the earlier view").isFalse();
        lease.answered(B, new Frame.Answer("w", clock.getAsLong(), 0));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.covers(learnt)).isFalse();
    }

    /** Until a member has entered the view it tells nobody new of its changes. */
    @Test
    void whatWasLearntBeforeTheFirstWholeLeaseIsNotCovered() {
        answer(B, clock.getAsLong(), 0);
        clock.pass(Duration.ofMillis(10));
        long learnt = clock.getAsLong();
        clock.pass(Duration.ofMillis(10));
        answer(C, clock.getAsLong(), 0);
        assertThat(lease.covers(learnt)).isFalse();
    }

    @Test
    void aGapInAMembersNumbersUncoversAll() {
        long learnt = learntAfterWholeLease();
        assertThat(lease.applied(B, "v", 1)).isTrue();
        assertThat(lease.covers(learnt)).isTrue();
        assertThat(lease.applied(B, "v", 3)).isFalse();
        assertThat(lease.gaps()).isEqualTo(1);
        assertThat(lease.covers(learnt)).isFalse();
        clock.pass(Duration.ofMillis(1));
        assertThat(lease.covers(clock.getAsLong())).as("learnt since").isTrue();
        assertThat(lease.applied(B, "v", 4)).isTrue();
    }

    @Test
    void changesOfTheNextViewMayComeBeforeIt() {
        assertThat(lease.applied(B, "w", 1)).isTrue();
        lease.membersAre(new Membership("w", List.of(B)));
        lease.answered(B, new Frame.Answer("w", clock.getAsLong(), 1));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void aStrangersAnswerCountsForNothing() {
        answer(B, clock.getAsLong(), 0);
        answer(new Member("3", "c"), clock.getAsLong(), 0);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void itEndsForGood() {
        learntAfterWholeLease();
        lease.end();
        answer(B, clock.getAsLong(), 0);
        answer(C, clock.getAsLong(), 0);
        assertThat(lease.isHeld()).isFalse();
    }
}
