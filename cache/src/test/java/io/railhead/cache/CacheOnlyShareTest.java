package io.railhead.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leases of which many end at once. */
final class CacheOnlyShareTest {
    private static final int OBJECTS = 600;
    private static final long END = 1000;

    private final TenantPartition partition = new TenantPartition(
            new TenantQuota(TenantQuota.NO_QUOTA, 0), new EvictionCounts(), null);
    private final List<CacheOnlyObject> objects = IntStream.range(0, OBJECTS)
            .mapToObj(this::object)
            .toList();
    private final CacheOnlyShare share = new CacheOnlyShare();

    private CacheOnlyObject object(int number) {
        ObjectVersion version = new ObjectVersion(CacheRig.id("k" + number), "\"1\"", "", 0);
        return new CacheOnlyObject(new ObjectMetadata(version, Map.of(), 0, 0), List.of(),
                partition, Long.MAX_VALUE, "", false);
    }

    private boolean tryLease(CacheOnlyObject object, long nowNanos, long endNanos) {
        return share.tryLease(object, nowNanos, endNanos,
                new CacheOnlyShare.LeaseLimit(0, OBJECTS));
    }

    @BeforeEach
    void lease() {
        objects.forEach(share::add);
        assertThat(objects).allMatch(object -> tryLease(object, 0, END));
    }

    @Test
    void oneCallEndsAFew() {
        CacheOnlyLeases leases = new CacheOnlyLeases();
        objects.forEach(object -> leases.put(object, END));
        assertThat(leases.takeEnded(END, 256, 0)).hasSize(256);
        assertThat(leases.count()).isEqualTo(OBJECTS - 256);
        assertThat(leases.haveEnded(END)).isTrue();
    }

    @Test
    void anEndedLeaseProtectsNothing() {
        assertThat(objects).allMatch(object -> share.isLeased(object, END - 1));
        assertThat(share.takeOldestOne(END - 1)).isEmpty();
        assertThat(objects).noneMatch(object -> share.isLeased(object, END));
        assertThat(share.takeOldestOne(END)).hasSize(1);
        assertThat(share.count()).isEqualTo(OBJECTS - 1);
    }

    @Test
    void anObjectWhoseLeaseHasEndedIsLeasedAnew() {
        CacheOnlyObject last = objects.getLast();
        assertThat(tryLease(last, END, 2 * END)).isTrue();
        share.endLeases(END);
        assertThat(objects).filteredOn(object -> share.isLeased(object, END)).containsOnly(last);
        share.endLeases(2 * END);
        assertThat(share.isLeased(last, 2 * END)).isFalse();
        assertThat(share.count()).isEqualTo(OBJECTS);
    }
}
