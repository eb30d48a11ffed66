package io.railhead.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A JUnit extension that asserts, after each test, that every watched memory has no lease and as
 * many bytes in use as when it was first watched; then it closes it. What holds pages for good,
 * such as a cache, is closed before: register it with {@link #closing}.
 */
public final class LeakCheck implements AfterEachCallback {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final Map<PageMemory, Long> watched = new LinkedHashMap<>();
    private final Deque<AutoCloseable> closing = new ArrayDeque<>();

    public PageMemory watch(PageMemory memory) {
        watched.put(memory, memory.stats().usedBytes());
        return memory;
    }

    /** Closes {@code resource} after the test and before the check; the last registered first. */
    public <T extends AutoCloseable> T closing(T resource) {
        closing.push(resource);
        return resource;
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        for (AutoCloseable resource : closing) {
            resource.close();
        }
        closing.clear();
        watched.forEach((memory, baseline) -> {
            awaitQuiet(memory, baseline);
            memory.close();
        });
        watched.clear();
    }

    private static void awaitQuiet(PageMemory memory, long baseline) {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (System.nanoTime() - end < 0 && !isQuiet(memory.stats(), baseline)) {
            Thread.onSpinWait();
        }
        MemoryStats stats = memory.stats();
        assertThat(stats.leases()).as("leases still open").isZero();
        assertThat(stats.usedBytes()).as("bytes in use").isEqualTo(baseline);
        assertThat(stats.condemnedBytes()).as("condemned bytes").isZero();
    }

    private static boolean isQuiet(MemoryStats stats, long baseline) {
        return stats.leases() == 0 && stats.usedBytes() == baseline && stats.condemnedBytes() == 0;
    }
}
