package io.railhead.cache;

import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.LeakCheck;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class WriteRaceTest {
    private static final ObjectId ID = id("written");
    private static final byte[] OLD = random(1, RUN);
    private static final byte[] NEW = random(2, RUN);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private CacheRig rig;
    private ObjectVersion old;

    @BeforeEach
    void anObject() {
        rig = CacheRig.of(leaks, 64);
        old = rig.source.put(ID, OLD, "old");
    }

    private ObjectMetadata head() {
        return head(rig.cache);
    }

    private ObjectMetadata head(ObjectCache cache) {
        return requireNonNull(rig.source.head(ID, cache.writes().epoch(ID), System.nanoTime()));
    }

    private void cacheIt() {
        assertThat(rig.cache.learn(head())).isTrue();
        assertThat(rig.readAll(old).awaitBytes()).isEqualTo(OLD);
        CacheRig.await(() -> rig.cache.stats().pages() == RUN / CacheRig.PAGE);
    }

    @Test
    void aWriteThatIsDoneForgetsWhatWasHeldAndUntilThenItIsNotSettled() {
        cacheIt();
        ObjectMetadata held = requireNonNull(rig.cache.find(ID));
        Writes.Write write = rig.cache.writes().begin(ID);
        assertThat(rig.cache.writes().isOpen(ID)).isTrue();
        assertThat(rig.cache.writes().isSettled(held)).isFalse();
        write.end(WriteOutcome.DONE);
        assertThat(rig.cache.find(ID)).isNull();
        assertThat(rig.cache.stats().pages()).isZero();
        assertThat(rig.cache.writes().isOpen(ID)).isFalse();
        assertThatThrownBy(() -> write.end(WriteOutcome.DONE))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void oneThatIsRefusedForgetsNothing() {
        cacheIt();
        ObjectMetadata held = requireNonNull(rig.cache.find(ID));
        rig.cache.writes().begin(ID).end(WriteOutcome.REFUSED);
        assertThat(rig.cache.find(ID)).isEqualTo(held);
        assertThat(rig.cache.writes().isSettled(held)).isTrue();
        assertThat(rig.cache.stats().pages()).isPositive();
    }

    @Test
    void aPutThatStartsDuringDiscoveryLeavesNothingIndexed() {
        rig.source.hold();
        CompletionStage<Discovery> stage = rig.cache.discover(ID, "",
                rig.source.discovering(rig.cache, ID, RUN));
        Writes.Write write = rig.cache.writes().begin(ID);
        rig.source.release();
        ObjectMetadata known = requireNonNull(stage.toCompletableFuture().join().metadata());
        assertThat(rig.readAll(known.version()).awaitBytes()).isEqualTo(OLD);
        assertThat(rig.cache.find(ID)).isNull();
        assertThat(rig.cache.stats().pages()).isZero();
        write.end(WriteOutcome.DONE);
    }

    @Test
    void aPutThatEndsDuringAFillLeavesNoneOfItsPagesIndexed() {
        Writes.Write write = rig.cache.writes().begin(ID);
        rig.source.hold();
        Received reader = rig.readAll(old);
        CacheRig.await(() -> rig.source.fetches().size() == 1);
        write.end(WriteOutcome.DONE);
        rig.source.release();
        assertThat(reader.awaitBytes()).isEqualTo(OLD);
        CacheRig.await(() -> rig.memory.stats().usedBytes() == 0);
        assertThat(rig.cache.stats().pages()).isZero();
    }

    @Test
    void twoOverlappingPutsKeepTheKeyOutUntilBothHaveEnded() {
        Writes.Write first = rig.cache.writes().begin(ID);
        Writes.Write second = rig.cache.writes().begin(ID);
        first.end(WriteOutcome.DONE);
        assertThat(rig.cache.writes().isOpen(ID)).isTrue();
        ObjectMetadata between = head();
        assertThat(rig.cache.learn(between)).isFalse();
        second.end(WriteOutcome.DONE);
        assertThat(rig.cache.learn(between)).isFalse();
        assertThat(rig.cache.find(ID)).isNull();
        assertThat(rig.cache.learn(head())).isTrue();
    }

    @Test
    void anUnknownOutcomeInvalidates() {
        Writes.Write write = rig.cache.writes().begin(ID);
        ObjectMetadata before = head();
        write.end(WriteOutcome.UNKNOWN);
        assertThat(rig.cache.learn(before)).isFalse();
        assertThat(rig.cache.find(ID)).isNull();
        assertThat(rig.cache.learn(head())).as("it may still happen").isFalse();
        assertThat(rig.cache.writes().isOpen(ID)).isTrue();
    }

    @Test
    void aWriteThatNobodyAnsweredIsOverOnceTheDoubtIs() {
        try (ObjectCache cache = new ObjectCache(rig.memory, CacheConfig.DEFAULT,
                System::nanoTime, Duration.ofMillis(20))) {
            ObjectMetadata asked;
            do {
                assertThat(cache.writes().begin(ID).end(WriteOutcome.UNKNOWN))
                        .isEqualTo(Writes.DISTURBED);
                asked = head(cache);
            } while (!cache.writes().isOpen(ID));
            CacheRig.await(() -> !cache.writes().isOpen(ID));
            assertThat(cache.learn(asked)).as("asked for while it could still happen").isFalse();
            assertThat(
                    cache.writes().isUntouchedSince(ID, asked.learntAtNanos(), asked.generation()))
                    .isFalse();
            assertThat(cache.learn(head(cache))).isTrue();
        }
    }

    @Test
    void aWriteIsOneInEveryNamespaceAndForgottenThereOnceItIsDone() {
        cacheIt();
        ObjectId theirs = new ObjectId(ID.backend(), "another", ID.bucket(), ID.key(), null);
        Writes.Write refused = rig.cache.writes().begin(theirs);
        assertThat(rig.cache.writes().isOpen(ID)).isTrue();
        refused.end(WriteOutcome.REFUSED);
        assertThat(rig.cache.find(ID)).isNotNull();
        assertThat(rig.cache.writes().isSettled(requireNonNull(rig.cache.find(ID)))).isTrue();
        ObjectMetadata before = head();
        rig.cache.writes().begin(theirs).end(WriteOutcome.DONE);
        assertThat(rig.cache.find(ID)).isNull();
        assertThat(rig.cache.learn(before)).isFalse();
    }

    @Test
    void whatWasLearntBeforeItsBucketChangedIsNotSettled() {
        cacheIt();
        ObjectMetadata held = requireNonNull(rig.cache.find(ID));
        rig.cache.writes().endInBucket(ID.backend(), "neighbour", WriteOutcome.DONE);
        assertThat(rig.cache.writes().isSettled(held)).isTrue();
        rig.cache.writes().endInBucket(ID.backend(), ID.bucket(), WriteOutcome.DONE);
        assertThat(rig.cache.writes().isSettled(held)).isFalse();
        assertThat(rig.cache.learn(head())).isTrue();
        assertThat(rig.cache.writes().isSettled(requireNonNull(rig.cache.find(ID)))).isTrue();
    }

    @Test
    void aWriteKnowsWhetherAnotherCameBetween() {
        assertThat(rig.cache.writes().begin(ID).end(WriteOutcome.DONE))
                .isEqualTo(rig.cache.writes().epoch(ID));
        Writes.Write first = rig.cache.writes().begin(ID);
        Writes.Write second = rig.cache.writes().begin(ID);
        assertThat(first.end(WriteOutcome.DONE)).isEqualTo(Writes.DISTURBED);
        assertThat(second.end(WriteOutcome.DONE)).isEqualTo(Writes.DISTURBED);
        assertThat(rig.cache.writes().begin(ID).end(WriteOutcome.REFUSED))
                .isEqualTo(Writes.DISTURBED);
    }

    @Test
    void metadataLearntUnderAnOldGenerationIsNotIndexed() {
        ObjectMetadata before = head();
        rig.cache.writes().begin(ID).end(WriteOutcome.REFUSED);
        assertThat(rig.cache.learn(before)).isFalse();
        assertThat(rig.cache.find(ID)).isNull();
    }

    @Test
    void aNewVersionCondemnsTheOldOnesPagesAndTheSameVersionKeepsThem() {
        cacheIt();
        assertThat(rig.cache.learn(head())).isTrue();
        assertThat(rig.cache.stats().pages()).isEqualTo(RUN / CacheRig.PAGE);
        ObjectVersion replaced = rig.source.put(ID, NEW, "new");
        assertThat(rig.cache.learn(head())).isTrue();
        assertThat(rig.cache.stats().pages()).isZero();
        assertThat(rig.readAll(replaced).awaitBytes()).isEqualTo(NEW);
    }

    @Test
    void anAnswerToAnEarlierRequestDoesNotReplaceALaterOne() {
        ObjectMetadata earlier = head();
        rig.source.put(ID, NEW, "new");
        ObjectMetadata later = head();
        assertThat(rig.cache.learn(later)).isTrue();
        assertThat(rig.cache.learn(earlier)).isFalse();
        assertThat(rig.cache.find(ID)).isEqualTo(later);
    }

    private static void know(CacheRig rig, ObjectId id) {
        assertThat(rig.cache.learn(requireNonNull(rig.source.head(id, rig.cache.writes().epoch(id),
                System.nanoTime())))).isTrue();
    }

    /** Each page that is removed by name makes a key: whoever writes makes none of large ones. */
    @Test
    void whoeverWritesALargeObjectDoesNotWaitForItsPagesToGo() {
        CacheRig large = CacheRig.of(leaks, 1024);
        byte[] bytes = random(1, 900 * CacheRig.PAGE);
        ObjectVersion version = large.source.put(ID, bytes, "1");
        large.source.put(id("first, for classes and threads"), bytes, "1");
        know(large, id("first, for classes and threads"));
        large.cache.writes().begin(id("first, for classes and threads")).end(WriteOutcome.DONE);
        know(large, ID);
        large.readAll(version).awaitBytes();
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        large.cache.writes().begin(ID).end(WriteOutcome.DONE);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(900 * 16);
        CacheRig.await(() -> large.memory.stats().usedBytes() == 0);
    }
}
