package io.railhead.cache;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Room for objects that come from disk, of which a tenant has a part. */
final class RisingRoomTest {
    private static final long PART = 100;

    private final RisingRoom room = new RisingRoom();

    @Test
    void aTenantThatReadsManyObjectsLeavesRoomToOthers() {
        assertThat(room.tryTake("a", 60, PART)).isTrue();
        assertThat(room.tryTake("a", 60, PART)).isFalse();
        assertThat(room.tryTake("a", 40, PART)).isTrue();
        assertThat(room.tryTake("b", 100, PART)).as("the largest object").isTrue();
        assertThat(room.tryTake("c", 1, PART)).as("all is taken").isFalse();
    }

    @Test
    void roomThatWasGivenBackIsTakenAgain() {
        assertThat(room.tryTake("a", 100, PART)).isTrue();
        assertThat(room.tryTake("b", 100, PART)).isTrue();
        room.giveBack("a", 100);
        assertThat(room.tryTake("b", 1, PART)).isFalse();
        assertThat(room.tryTake("c", 100, PART)).isTrue();
    }
}
