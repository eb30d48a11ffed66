package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The end of one volume's writes; the test is their thread. */
final class VolumeWritesTest {
    private static final Duration LONG = Duration.ofHours(1);
    private static final int PAGE = TierRig.PAGE;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final DiskCounters counters = new DiskCounters();
    private final List<Runnable> releases = new ArrayList<>();

    private VolumeWrites writes(VolumeRig rig) {
        return new VolumeWrites("disk", rig.volume, counters, System::nanoTime, LONG.toNanos(),
                () -> false, releases::add);
    }

    private WaitingPage waiting(PageMemory memory, TenantId tenant) {
        Page page = Objects.requireNonNull(memory.tryAllocate(new int[]{PAGE}, Pool.CACHE))
                .getFirst();
        page.write(ByteBuffer.allocate(PAGE));
        page.publish();
        WaitingPage waiting = TierRig.waiting(page, tenant);
        page.condemn();
        counters.queuedBytes.addAndGet(waiting.bytes());
        return waiting;
    }

    /** An offer is under the lock of a key, so it releases no page on its own thread. */
    @Test
    void aPageThatIsOfferedAtTheEndDropsNoOther() throws DiskRefusedException {
        PageMemory memory = new TierRig(leaks, 0, "a").memory;
        try (VolumeRig rig = new VolumeRig(new FaultyDisk(VolumeRig.SIZE))) {
            VolumeWrites writes = writes(rig);
            TenantId tenant = rig.volume.tenant("tenant");
            writes.add(waiting(memory, tenant));
            writes.end(LONG);
            writes.add(waiting(memory, tenant));
            assertThat(memory.stats().leases()).isEqualTo(2);
            assertThat(releases).hasSize(1);
            releases.getFirst().run();
            assertThat(memory.stats().leases()).isEqualTo(1);
            writes.run();
            writes.ended();
            assertThat(counters.writtenPages.sum()).isEqualTo(1);
            assertThat(counters.queuedBytes).hasValue(0);
            assertThat(writes.oldestOffer()).isEqualTo(Long.MAX_VALUE);
            writes.free();
        }
    }

    @Test
    void anErasureThatIsTooLateIsAnsweredWithNo() throws DiskRefusedException {
        try (VolumeRig rig = new VolumeRig(new FaultyDisk(VolumeRig.SIZE))) {
            VolumeWrites writes = writes(rig);
            TenantId tenant = rig.volume.tenant("tenant");
            writes.end(LONG);
            writes.run();
            CompletableFuture<Boolean> late = writes.erase(tenant);
            assertThat(late).isNotDone();
            writes.ended();
            assertThat(late).isCompletedWithValue(false);
            assertThat(writes.erase(tenant)).isCompletedWithValue(false);
            writes.free();
        }
    }
}
