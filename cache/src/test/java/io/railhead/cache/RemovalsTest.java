package io.railhead.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.Removal.Reason;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RemovalsTest {
    private final Removals removals = new Removals();
    private final AtomicInteger heard = new AtomicInteger();

    private RemovalQueue subscribe(String namespace, String prefix) {
        return Objects.requireNonNull(
                removals.trySubscribe(namespace, "kv", prefix, 3, heard::incrementAndGet));
    }

    private void tell(String namespace, String key, Reason reason) {
        removals.tell(new ObjectId(CacheOnlyObjects.BACKEND, namespace, "kv", key, null), reason);
    }

    @Test
    void aSubscriberHearsOfItsPrefixInItsNamespaceAlone() {
        RemovalQueue queue = subscribe("a", "p/");
        assertThat(queue.take()).isEqualTo(new RemovalQueue.Taken(true, List.of()));
        tell("a", "p/1", Reason.DELETED);
        tell("a", "q/1", Reason.DELETED);
        tell("b", "p/1", Reason.EVICTED);
        tell("a", "p/2", Reason.EXPIRED);
        assertThat(heard).hasValue(2);
        assertThat(queue.take()).isEqualTo(new RemovalQueue.Taken(false, List.of(
                new Removal("p/1", Reason.DELETED), new Removal("p/2", Reason.EXPIRED))));
        assertThat(queue.take().isEmpty()).isTrue();
    }

    @Test
    void aFullQueueDropsAllAndSaysSo() {
        RemovalQueue queue = subscribe("a", "");
        assertThat(queue.take().anew()).isTrue();
        for (int i = 0; i < 4; i++) {
            tell("a", "k" + i, Reason.EVICTED);
        }
        assertThat(queue.take()).isEqualTo(new RemovalQueue.Taken(true,
                List.of(new Removal("k3", Reason.EVICTED))));
        assertThat(removals.lost()).isEqualTo(3);
        assertThat(queue.take().isEmpty()).isTrue();
    }

    @Test
    void aSlowSubscriberCostsOthersNothing() {
        RemovalQueue slow = subscribe("a", "");
        RemovalQueue other = subscribe("a", "");
        assertThat(other.take().anew()).isTrue();
        for (int i = 0; i < 5; i++) {
            tell("a", "k" + i, Reason.EVICTED);
            assertThat(other.take().removals()).hasSize(1);
        }
        assertThat(slow.take().removals()).hasSize(2);
    }

    @Test
    void aBucketHasNoMoreSubscriptionsThanARemovalMayVisit() {
        RemovalQueue first = subscribe("a", "0");
        for (int i = 1; i < Removals.MAX_OF_BUCKET; i++) {
            subscribe("a", Integer.toString(i));
        }
        assertThat(removals.trySubscribe("a", "kv", "", 3, heard::incrementAndGet)).isNull();
        assertThat(removals.subscriptions()).isEqualTo(Removals.MAX_OF_BUCKET);
        assertThat(removals.trySubscribe("a", "other", "", 3, heard::incrementAndGet)).isNotNull();
        assertThat(subscribe("b", "").take().anew()).isTrue();
        first.close();
        assertThat(subscribe("a", "").take().anew()).isTrue();
    }

    @Test
    void aClosedQueueHoldsNothing() {
        RemovalQueue queue = subscribe("a", "");
        assertThat(removals.subscriptions()).isEqualTo(1);
        queue.close();
        queue.close();
        tell("a", "k", Reason.DELETED);
        assertThat(removals.subscriptions()).isZero();
        assertThat(heard).hasValue(0);
        assertThat(queue.take().removals()).isEmpty();
    }
}
