package io.railhead.cli.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.client.ListedObject;
import org.junit.jupiter.api.Test;

class ChoiceTest {
    private static final String TIME = "2026-11-22T00:00:00Z";

    @Test
    void onlyWholeObjectsAreTakenWhileTheyFit() {
        Choice choice = new Choice(100, 64);
        choice.offer(new ListedObject("folder/", 0, TIME));
        choice.offer(new ListedObject("a", 60, TIME));
        choice.offer(new ListedObject("b", 50, TIME));
        assertThat(choice.isOver()).isFalse();
        choice.offer(new ListedObject("c", 40, TIME));

        assertThat(choice.taken()).extracting(ListedObject::key).containsExactly("a", "c");
        assertThat(choice.bytes()).isEqualTo(100);
        assertThat(choice.tooLarge()).isEqualTo(1);
        assertThat(choice.isOver()).isTrue();
    }

    @Test
    void objectsAreCountedToo() {
        Choice choice = new Choice(Long.MAX_VALUE, 2);
        for (int i = 0; i < 3; i++) {
            choice.offer(new ListedObject("k" + i, 1, TIME));
        }

        assertThat(choice.taken()).hasSize(2);
        assertThat(choice.isOver()).isTrue();
    }

    @Test
    void aBucketInWhichNothingFitsIsNotListedToItsEnd() {
        Choice choice = new Choice(10, 2);
        for (int i = 0; i < Choice.MOST_LISTED; i++) {
            assertThat(choice.isOver()).isFalse();
            choice.offer(new ListedObject("k" + i, 11, TIME));
        }

        assertThat(choice.isOver()).isTrue();
        assertThat(choice.taken()).isEmpty();
    }
}
