package io.railhead.rdma.loopback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.railhead.cache.memory.MemoryConfig;
import io.railhead.os.HugePageSize;
import io.railhead.os.HugePages;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricRig;
import io.railhead.rdma.SessionFabricContract;
import io.railhead.rdma.TestPages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The contract over slabs of huge pages. Reserves what is missing of them and gives it back, which
 * is root's; skips itself where that cannot be done.
 */
class LoopbackOnHugePagesTest extends SessionFabricContract {
    private static final HugePageSize SIZE = HugePageSize.MIB_2;
    private static final long MEMORY_BYTES = 128L << 20;
    private static final long NEEDED = MEMORY_BYTES / SIZE.bytes();
    private static final Path RESERVED = Path.of(
            "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");

    private static HugePages before;
    private static long free;

    @TempDir
    Path folder;

    @BeforeAll
    static void reserve() {
        before = HugePages.read(SIZE);
        if (before.groupBytes() < MEMORY_BYTES) {
            abort("this control group may not have " + NEEDED + " huge pages");
        }
        if (before.free() < NEEDED && !reserves(before.total() + NEEDED - before.free())) {
            giveBack();
            abort("needs " + NEEDED + " free huge pages, or root on a machine with room for them");
        }
        free = HugePages.read(SIZE).free();
    }

    @AfterAll
    static void allAreFreeAgain() {
        long left = HugePages.read(SIZE).free();
        giveBack();
        assertThat(left).isGreaterThanOrEqualTo(free);
    }

    private static void giveBack() {
        if (before.free() < NEEDED) {
            reserves(before.total());
        }
    }

    private static boolean reserves(long total) {
        try {
            Files.writeString(RESERVED, Long.toString(total));
        } catch (IOException e) {
            return false;
        }
        return HugePages.read(SIZE).total() == total;
    }

    @Override
    protected FabricRig start() {
        return LoopbackRig.in(folder);
    }

    @Override
    protected TestPages openPages(Fabric fabric) {
        return new TestPages(fabric,
                new MemoryConfig(MEMORY_BYTES, TestPages.PAGE_BYTES, 0.05, true, SIZE));
    }

    @Test
    void theMemoryIsOfHugePages() {
        assertThat(HugePages.read(SIZE).free()).isEqualTo(free - NEEDED);
    }
}
