package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Discarded objects, which a flush must not call stored. */
class DiscardedWritesTest {
    private final LogOfTest log = new LogOfTest();
    private final DiscardedWrites discards = new DiscardedWrites();

    @AfterEach
    void close() {
        log.close();
    }

    private PendingWrite put(String key) throws Exception {
        return log.put(key, new byte[10]);
    }

    private boolean has(String key) {
        return discards.find(discarded -> discarded.name().key().equals(key)) != null;
    }

    @Test
    void aLaterWriteTakesItsPlaceAndAnEarlierOneDoesNot() throws Exception {
        PendingWrite earlier = put("a");
        PendingWrite discarded = put("a");
        discards.add(discarded);
        discards.acknowledged(earlier);
        discards.stored(earlier);
        discards.acknowledged(put("b"));
        assertThat(has("a")).isTrue();
        discards.acknowledged(put("a"));
        assertThat(has("a")).isFalse();
        discards.add(discarded);
        discards.stored(put("a"));
        assertThat(has("a")).isFalse();
    }

    @Test
    void oneThatIsNotDiscardedAfterAllLeavesTheOthers() throws Exception {
        PendingWrite first = put("a");
        PendingWrite second = put("a");
        discards.add(second);
        discards.add(first);
        discards.remove(first);
        assertThat(has("a")).isTrue();
        discards.remove(second);
        assertThat(has("a")).isFalse();
    }

    @Test
    void twoSpellingsOfAKeyAreOneObject() throws Exception {
        discards.add(put("a%2Bb"));
        assertThat(has("a+b")).isTrue();
        discards.acknowledged(put("a+b"));
        assertThat(has("a+b")).isFalse();
    }

    @Test
    void aChangeAtTheStoreEndsWhatWasAcknowledgedBeforeItAndNoMore() throws Exception {
        PendingWrite before = put("a");
        discards.acknowledged(before);
        long through = discards.newest();
        PendingWrite meanwhile = put("a");
        discards.acknowledged(meanwhile);
        discards.add(before);
        discards.add(meanwhile);
        discards.changed(before.name().identity(), through);
        discards.remove(before);
        assertThat(has("a")).as("acknowledged while the change was out").isTrue();
        discards.changed(before.name().identity(), discards.newest());
        assertThat(has("a")).isFalse();
    }
}
