package io.railhead.cache;

import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Uploaded bytes on their way into the index. */
final class StagedUploadTest {
    private static final ObjectId ID = id("uploaded");
    private static final byte[] OBJECT = random(7, 2 * CacheRig.PAGE + 12_345);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private CacheRig rig;

    @BeforeEach
    void aCache() {
        rig = CacheRig.of(leaks, 64);
    }

    private StagedUpload stage(byte[] object, int bytes) {
        StagedUpload upload = requireNonNull(rig.cache.tryStage(object.length, ""));
        for (int at = 0; at < bytes; at += 10_000) {
            upload.write(ByteBuffer.wrap(object, at, Math.min(10_000, bytes - at)));
        }
        return upload;
    }

    private ObjectMetadata confirmed() {
        ObjectMetadata head = requireNonNull(
                rig.source.head(ID, rig.cache.writes().epoch(ID), System.nanoTime()));
        assertThat(rig.cache.learn(head)).isTrue();
        return head;
    }

    private void assertNothingStaged() {
        assertThat(rig.cache.stats().stagedBytes()).isZero();
        assertThat(rig.memory.stats().usedBytes()).isZero();
    }

    @Test
    void isServedWithoutAFetchOnceItIsConfirmed() {
        StagedUpload upload = stage(OBJECT, OBJECT.length);
        ObjectVersion version = rig.source.put(ID, OBJECT, "one");
        assertThat(rig.cache.keep(confirmed(), upload)).isTrue();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(OBJECT);
        assertThat(rig.source.fetches()).isEmpty();
        assertThat(rig.cache.stats().stagedBytes()).isZero();
    }

    @Test
    void nobodyFindsItBefore() {
        StagedUpload upload = stage(OBJECT, OBJECT.length);
        assertThat(rig.cache.stats().pages()).isZero();
        assertThat(upload.isWhole()).isTrue();
        upload.close();
        upload.close();
        assertNothingStaged();
    }

    @Test
    void whatIsNotWholeIsNotKept() {
        StagedUpload upload = stage(OBJECT, OBJECT.length - 1);
        rig.source.put(ID, OBJECT, "one");
        assertThat(rig.cache.keep(confirmed(), upload)).isFalse();
        assertNothingStaged();
    }

    @Test
    void moreBytesThanAnnouncedAreNotKept() {
        StagedUpload upload = stage(OBJECT, OBJECT.length);
        upload.write(ByteBuffer.allocate(1));
        assertThat(upload.isWhole()).isFalse();
        assertNothingStaged();
    }

    @Test
    void aWriteAfterItsConfirmationLeavesItOut() {
        StagedUpload upload = stage(OBJECT, OBJECT.length);
        rig.source.put(ID, OBJECT, "one");
        ObjectMetadata confirmed = confirmed();
        rig.cache.writes().begin(ID).end(WriteOutcome.DONE);
        assertThat(rig.cache.keep(confirmed, upload)).isFalse();
        assertNothingStaged();
    }

    @Test
    void pagesThatAReaderFetchedMeanwhileStayAndOursGo() {
        StagedUpload upload = stage(OBJECT, OBJECT.length);
        ObjectVersion version = rig.source.put(ID, OBJECT, "one");
        ObjectMetadata confirmed = confirmed();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(OBJECT);
        CacheRig.await(() -> rig.cache.stats().pages() == 3);
        assertThat(rig.cache.keep(confirmed, upload)).isTrue();
        assertThat(rig.cache.stats().pages()).isEqualTo(3);
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(OBJECT);
        CacheRig.await(() -> rig.memory.stats().condemnedBytes() == 0);
    }

    @Test
    void allTogetherTakeAQuarterOfTheMemoryAtMost() {
        long capacity = rig.memory.stats().capacityBytes();
        StagedUpload first = requireNonNull(rig.cache.tryStage(capacity / 4, ""));
        @Nullable
        StagedUpload second = rig.cache.tryStage(1, "");
        assertThat(second).isNull();
        first.close();
        assertNothingStaged();
    }
}
