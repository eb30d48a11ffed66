package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.rdma.poller.SharedBudget;
import org.junit.jupiter.api.Test;

final class BudgetTest {

    @Test
    void whatDoesNotFitWaits() {
        Budget budget = new Budget(100);
        assertThat(budget.tryTake(60)).isTrue();
        assertThat(budget.tryTake(41)).isFalse();
        budget.giveBack(60);
        assertThat(budget.tryTake(41)).isTrue();
    }

    @Test
    void theOuterLimitHoldsToo() {
        SharedBudget port = new SharedBudget(100, null, _ -> {});
        Budget ann = new Budget(100, port, 0);
        Budget bob = new Budget(100, port, 1);
        assertThat(ann.tryTake(70)).isTrue();
        assertThat(bob.tryTake(70)).isFalse();
        assertThat(bob.taken()).isZero();
        ann.giveBack(70);
        assertThat(bob.tryTake(70)).isTrue();
        assertThat(port.taken()).isEqualTo(70);
    }

    @Test
    void whatIsLargerThanTheLimitGoesAlone() {
        Budget budget = new Budget(100);
        assertThat(budget.tryTake(1000)).isTrue();
        assertThat(budget.tryTake(1)).isFalse();
        budget.giveBack(1000);
        assertThat(budget.taken()).isZero();
        assertThatThrownBy(() -> budget.giveBack(1)).hasMessageContaining("than taken");
    }
}
