package io.railhead.rdma;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Page memory for tests: slices with known bytes. Closing it fails where a lease is open. */
public final class TestPages implements AutoCloseable {
    public static final int PAGE_BYTES = 1 << 20;
    private final PageMemory memory;
    private final List<Page> owned = new ArrayList<>();

    public TestPages(Fabric fabric) {
        this(fabric, new MemoryConfig(256L << 20, PAGE_BYTES, 0.05, false));
    }

    /** Few pages, for a second fabric beside the test's own: an emulated machine is small. */
    public static TestPages few(Fabric fabric) {
        return new TestPages(fabric, new MemoryConfig(32L << 20, PAGE_BYTES, 0.05, false));
    }

    public TestPages(Fabric fabric, MemoryConfig config) {
        memory = PageMemory.open(config, fabric::register);
        // It serves with its first part; tests count on all of it.
        while (memory.stats().capacityBytes() < config.memoryBytes()) {
            Thread.onSpinWait();
        }
    }

    /** A leased slice of a page of its own: {@code [offset, offset + length)} of it. */
    public synchronized PageSlice slice(int offset, int length) {
        Page page = requireNonNull(
                memory.tryAllocate(new int[]{offset + length}, Pool.CACHE), "no memory").get(0);
        owned.add(page);
        return new PageSlice(requireNonNull(page.tryRetain()), 0, offset, length);
    }

    /** A leased slice that holds {@code bytes}. */
    public PageSlice of(byte[] bytes) {
        PageSlice slice = slice(0, bytes.length);
        fill(slice, bytes);
        return slice;
    }

    public static void fill(PageSlice slice, byte[] bytes) {
        int at = 0;
        for (MemorySegment segment : slice.segments()) {
            MemorySegment.copy(MemorySegment.ofArray(bytes), at, segment, 0, segment.byteSize());
            at += (int) segment.byteSize();
        }
        assertThat(at).isEqualTo(bytes.length);
    }

    public static byte[] bytes(PageSlice slice) {
        byte[] bytes = new byte[slice.length()];
        int at = 0;
        for (MemorySegment segment : slice.segments()) {
            MemorySegment.copy(segment, 0, MemorySegment.ofArray(bytes), at, segment.byteSize());
            at += (int) segment.byteSize();
        }
        return bytes;
    }

    public long leases() {
        return memory.stats().leases();
    }

    /** Gives back the pages whose slices are all closed. */
    public synchronized void recycle() {
        assertThat(leases()).as("leases").isZero();
        owned.forEach(Page::condemn);
        owned.clear();
    }

    @Override
    public void close() {
        recycle();
        memory.close();
    }
}
