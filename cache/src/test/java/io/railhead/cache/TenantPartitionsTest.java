package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class TenantPartitionsTest {
    private static final int STEP = 4 * PAGE;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks.watch(PageMemory.open(
            new MemoryConfig(16L * PAGE, PAGE, 0, false), slab -> {}));
    private final TenantPartitions tenantPartitions = new TenantPartitions(
            Map.of("kept", new TenantQuota(TenantQuota.NO_QUOTA, 16L * PAGE)), STEP,
            new EvictionCounts(), null);

    private Page page() {
        Page page = requireNonNull(memory.tryAllocate(new int[]{PAGE}, Pool.CACHE)).getFirst();
        page.publish();
        return page;
    }

    @Test
    void noTenantsObjectsGoToTheGuestsPartition() {
        TenantPartitions shared = new TenantPartitions(
                Map.of("a", new TenantQuota(TenantQuota.NO_QUOTA, 0)), 8L * PAGE, STEP,
                new EvictionCounts(), null);
        shared.limit(12L * PAGE);
        assertThat(shared.leasableBytes(shared.of("a"))).isEqualTo(3L * PAGE);
    }

    /** Between announcing and putting, a share has more than its maximum. */
    @Test
    void aShareGivesNoMoreThanItsMaximumWhileItsPagesAreOnlyAnnounced() {
        tenantPartitions.limit(2 * PAGE);
        tenantPartitions.of("other").announce(8 * PAGE);
        PageKey key = new PageKey(
                new ObjectVersion(CacheRig.id("key"), "\"1\"", "", PAGE), 0);
        tenantPartitions.put(tenantPartitions.of("kept"), key, page());
        assertThat(Arrays.stream(tenantPartitions.all()).mapToLong(TenantPartition::maximum).sum())
                .isEqualTo(2 * PAGE);
        assertThat(tenantPartitions.peek(key)).isNotNull();
        for (TenantPartition tenantPartition : tenantPartitions.all()) {
            tenantPartition.clear();
        }
    }
}
