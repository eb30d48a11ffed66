package io.railhead.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.disk.DiskStats.NotKept;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tenants that wait for one disk, which hangs until the test has offered all pages. */
final class WriteQueueTest {
    private static final int PAGE = TierRig.PAGE;
    /** As many pages as the rig's queue has room for. */
    private static final int ROOM = 8;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static boolean offer(TierRig rig, DiskTier tier, String bucket, int number) {
        return rig.offer(tier, TierRig.name(bucket, number, PAGE), new byte[PAGE], () -> true);
    }

    private static long dropped(DiskTier tier) {
        return tier.stats().notKept().getOrDefault(NotKept.QUEUE, 0L);
    }

    @Test
    void aFloodOfOneTenantPushesNobodyElseOut() {
        TierRig rig = new TierRig(leaks, 0, "a");
        // Writes wait for the test, however slow that is: the disk must not count as broken.
        rig.hangs = Duration.ofHours(1);
        DiskTier tier = rig.open();
        FaultyDisk disk = Objects.requireNonNull(rig.disks.get("a"));
        disk.hangWrites();
        for (int i = 0; i < 3 * ROOM; i++) {
            offer(rig, tier, "flood", i);
        }
        long dropped = dropped(tier);
        assertThat(dropped).isEqualTo(2 * ROOM);
        for (int i = 100; i < 103; i++) {
            assertThat(offer(rig, tier, "small", i)).isTrue();
        }
        // One of the flood's pages went for each, and its memory too.
        assertThat(dropped(tier)).isEqualTo(dropped + 3);
        assertThat(tier.stats().queuedBytes()).isEqualTo((long) ROOM * PAGE);
        TierRig.await(() -> rig.memory.stats().usedBytes() == (long) ROOM * PAGE);
        // Neither may have more than its half.
        assertThat(IntStream.range(200, 200 + ROOM)
                .filter(i -> offer(rig, tier, "small", i))
                .count()).isLessThanOrEqualTo(ROOM / 2);
        disk.goOn();
        TierRig.await(() -> tier.stats().queuedBytes() == 0);
        for (int i = 100; i < 103; i++) {
            assertThat(TierRig.read(tier, TierRig.name("small", i, PAGE))).isNotNull();
        }
    }

    @Test
    void tenantsTakeTurns() {
        WriteQueue queue = new WriteQueue();
        List<WaitingPage> flood = IntStream.range(0, 5).mapToObj(_ -> waiting(1)).toList();
        WaitingPage small = waiting(2);
        flood.subList(0, 3).forEach(queue::add);
        queue.add(small);
        flood.subList(3, 5).forEach(queue::add);
        assertThat(IntStream.range(0, 6).mapToObj(_ -> queue.poll())).containsExactly(
                flood.get(0), small, flood.get(1), flood.get(2), flood.get(3), flood.get(4));
        assertThat(queue.poll()).isNull();
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void roomIsTakenFromWhoHasMoreThanItsShareAlone() {
        WriteQueue queue = new WriteQueue();
        List<WaitingPage> many = IntStream.range(0, 3).mapToObj(_ -> waiting(1)).toList();
        many.forEach(queue::add);
        TenantId other = new TenantId(2, 2);
        assertThat(queue.tryTakeFor(new TenantId(1, 1), PAGE)).isNull();
        assertThat(queue.tryTakeFor(other, PAGE)).isSameAs(many.get(2));
        assertThat(queue.tryTakeFor(other, PAGE)).isSameAs(many.get(1));
        assertThat(queue.tryTakeFor(other, PAGE)).isNull();
        assertThat(queue.poll()).isSameAs(many.get(0));
    }

    private WaitingPage waiting(int tenant) {
        TierRig rig = new TierRig(leaks, 0, "a");
        Page page = Objects.requireNonNull(rig.memory.tryAllocate(new int[]{PAGE}, Pool.CACHE))
                .getFirst();
        page.write(ByteBuffer.allocate(PAGE));
        page.publish();
        WaitingPage waiting = TierRig.waiting(page, new TenantId(tenant, tenant));
        page.condemn();
        waiting.release();
        return waiting;
    }
}
