package io.railhead.cache;

import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Changes that a cache tells other gateways, and those that it hears of them. */
final class PeersTest {
    private static final ObjectId ID = id("shared");

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final FakePeers peers = new FakePeers();
    private CacheRig rig;
    private ObjectCache cache;

    /** Others that vouch as a test says, and have heard when it says. */
    private static final class FakePeers implements Peers {
        private final List<Change> told = new ArrayList<>();
        private CompletionStage<Void> heard = NOBODY;
        private boolean vouches = true;

        @Override
        public boolean vouchFor(long learntAtNanos) {
            return vouches;
        }

        @Override
        public CompletionStage<Void> tell(Change change) {
            told.add(change);
            return heard;
        }

        @Override
        public CompletionStage<Boolean> tellAll(Change.Eviction eviction) {
            told.add(eviction);
            return CompletableFuture.completedStage(vouches);
        }
    }

    @BeforeEach
    void anObject() {
        rig = CacheRig.of(leaks, 64);
        cache = leaks.closing(new ObjectCache(rig.memory, CacheConfig.DEFAULT, System::nanoTime,
                null, peers));
        rig.source.put(ID, random(1, RUN), "first");
        assertThat(cache.learn(head())).isTrue();
    }

    private ObjectMetadata head() {
        return requireNonNull(
                rig.source.head(ID, cache.writes().epoch(ID), System.nanoTime()));
    }

    private static Change ofKey(WriteOutcome outcome) {
        return new Change.OfKey(ID.backend(), ID.bucket(), ID.key(), null, outcome);
    }

    @Test
    void whatTheyDoNotVouchForIsNotSettled() {
        ObjectMetadata held = requireNonNull(cache.find(ID));
        assertThat(cache.writes().isSettled(held)).isTrue();
        long epoch = cache.writes().epoch(ID);
        peers.vouches = false;
        assertThat(cache.writes().isSettled(held)).isFalse();
        assertThat(cache.writes().isUntouchedSince(ID, System.nanoTime(), epoch)).isFalse();
    }

    @Test
    void theyAreToldOfEachWriteThatMayHaveHappenedAndOfNoOther() {
        cache.writes().begin(ID).end(WriteOutcome.REFUSED);
        assertThat(peers.told).isEmpty();
        cache.writes().begin(ID).end(WriteOutcome.DONE);
        cache.writes().begin(ID).end(WriteOutcome.UNKNOWN);
        cache.writes().endInBucket(ID.backend(), ID.bucket(), WriteOutcome.REFUSED);
        cache.writes().endInBucket(ID.backend(), ID.bucket(), WriteOutcome.DONE);
        assertThat(peers.told).containsExactly(ofKey(WriteOutcome.DONE),
                ofKey(WriteOutcome.UNKNOWN),
                new Change.OfBucket(ID.backend(), ID.bucket(), WriteOutcome.DONE));
    }

    @Test
    void aWriteIsHeardWhenTheySaySo() {
        CompletableFuture<Void> heard = new CompletableFuture<>();
        peers.heard = heard;
        Writes.Write write = cache.writes().begin(ID);
        write.end(WriteOutcome.DONE);
        assertThat(write.heard().toCompletableFuture()).isNotDone();
        heard.complete(null);
        assertThat(write.heard().toCompletableFuture()).isDone();
    }

    @Test
    void aVersionThatReplacesAnotherIsNewsAndTheSameOneIsNot() {
        cache.learnForAll(head());
        assertThat(peers.told).isEmpty();
        rig.source.put(ID, random(2, RUN), "second");
        CompletableFuture<Void> heard = new CompletableFuture<>();
        peers.heard = heard;
        CompletionStage<Void> learnt = cache.learnForAll(head());
        assertThat(peers.told).containsExactly(ofKey(WriteOutcome.DONE));
        assertThat(learnt.toCompletableFuture()).isNotDone();
    }

    @Test
    void whatTheStoreLacksIsNewsOnce() {
        cache.evict(ID);
        cache.evict(ID);
        assertThat(peers.told).containsExactly(ofKey(WriteOutcome.DONE));
    }

    @Test
    void whatTheyTellIsForgottenHereAndToldNobody() {
        ObjectMetadata asked = head();
        cache.heard(ofKey(WriteOutcome.DONE));
        assertThat(cache.find(ID)).isNull();
        assertThat(cache.learn(asked)).as("asked before the write").isFalse();
        assertThat(cache.learn(head())).isTrue();
        cache.heard(new Change.OfBucket(ID.backend(), ID.bucket(), WriteOutcome.DONE));
        assertThat(cache.writes().isSettled(requireNonNull(cache.find(ID)))).isFalse();
        assertThat(cache.heard(new Change.Eviction(
                new Selection(ID.bucket(), ID.key(), Selection.Kind.KEY)))
                .toCompletableFuture()
                .join()).isTrue();
        assertThat(cache.find(ID)).isNull();
        assertThat(peers.told).isEmpty();
    }

    @Test
    void aWriteInDoubtAtAnotherGatewayStaysOpenHere() {
        cache.heard(ofKey(WriteOutcome.UNKNOWN));
        assertThat(cache.find(ID)).isNull();
        assertThat(cache.writes().isOpen(ID)).isTrue();
    }
}
