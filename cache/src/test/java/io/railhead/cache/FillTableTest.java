package io.railhead.cache;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The claims of one page: one seeker fetches it, and the others join. */
class FillTableTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = CacheRig.of(leaks, 40).memory;
    private final PageIndex index = new PageIndex(memory, CacheConfig.DEFAULT,
            new Pins(memory, 0.5));
    private final Writes writes = new Writes(System::nanoTime, Duration.ofSeconds(1), task -> {},
            id -> {}, Peers.NONE);
    private final FillTable table = new FillTable(memory, index, writes, CacheRig.PAGE,
            version -> version, version -> {});
    private final PageKey key = new PageKey(
            new ObjectVersion(CacheRig.id("key"), "1", "", CacheRig.PAGE), 0);

    private FillClaim claim() {
        return requireNonNull(table.tryClaim(key, ""));
    }

    private Page filled(FillClaim fillClaim) {
        Page page = requireNonNull(
                memory.tryAllocate(new int[]{CacheRig.PAGE}, Pool.CACHE)).getFirst();
        page.publish();
        fillClaim.settle(new FillClaim.Filled(page));
        return page;
    }

    @Test
    void aFillThatWaitsOrEndsIsJoined() {
        FillClaim flying = claim();
        assertThat(table.tryClaim(key, "")).isNull();
        Page page = filled(flying);
        assertThat(table.tryClaim(key, "")).isNull();
        page.condemn();
    }

    /** A joiner would find the fill ended and its page gone, again and again. */
    @Test
    void aFillWhosePageIsGoneBeforeItsEndIsNotJoined() {
        filled(claim()).condemn();
        FillClaim second = claim();
        table.failed(second, null,
                new FillException(FillException.Reason.BACKEND_FAILED, "", null));
    }
}
