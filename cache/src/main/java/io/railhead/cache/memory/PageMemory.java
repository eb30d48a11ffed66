package io.railhead.cache.memory;

import io.railhead.os.HostLimits;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All registered memory: slabs cut into slots, handed out as pages. Any thread. This object owns
 * every slab; a page owns its slots until its count is zero; a lease owns one count. Only
 * {@link #close} unmaps slabs, and never under an open lease.
 */
public final class PageMemory implements AutoCloseable {

    /** The memory that a page may come from. */
    public enum Pool {
        /** Memory that may hold cached pages. */
        CACHE,
        /** Memory that never holds cached pages: uncached RDMA reads, and uploads. */
        RESERVE
    }

    /**
     * The common properties of pages of one kind.
     *
     * @param leases the leases of all pages, counted
     * @param owned whether an owner besides the leases keeps the page
     */
    record Origin(PageMemory memory, LeaseAges leases, Pool pool, boolean owned) {}

    private final SlotAllocator slots;
    private final SlabMapper mapper;
    private final int pageBytes;
    private final LeaseAges leases = new LeaseAges();
    private final Origin cached = new Origin(this, leases, Pool.CACHE, true);
    private final Origin uncached = new Origin(this, leases, Pool.RESERVE, true);
    private final Origin landing = new Origin(this, leases, Pool.RESERVE, false);
    private final LongAdder condemnedBytes = new LongAdder();
    private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private final CopyOnWriteArrayList<Runnable> onGrowth = new CopyOnWriteArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    private PageMemory(MemoryConfig config, Consumer<Slab> onSlab) {
        this.slots = new SlotAllocator(config.pageBytes(), config.reserveRatio());
        this.pageBytes = config.pageBytes();
        this.mapper = new SlabMapper(config, onSlab, this::join);
    }

    /** Opens memory without slabs, which {@link #join} adds: for measurements. */
    static PageMemory over(MemoryConfig config) {
        return new PageMemory(config, slab -> {});
    }

    void join(MemorySegment slab) {
        slots.join(slab);
        onGrowth.forEach(Runnable::run);
        wake();
    }

    /** Opens memory as {@link #openFirst} does, and calls {@link #takeRest} at once. */
    public static PageMemory open(MemoryConfig config, Consumer<Slab> onSlab) {
        return open(config, onSlab, HostLimits.read());
    }

    /**
     * Maps the first slab, and returns when it can be used.
     *
     * @param onSlab called once for each slab before any of its pages is handed out, so that
     *            fabrics register it
     * @throws IllegalArgumentException with one line that names the setting, if the machine cannot
     *             give so much
     */
    public static PageMemory openFirst(MemoryConfig config, Consumer<Slab> onSlab) {
        return openFirst(config, onSlab, HostLimits.read());
    }

    /** Throws as {@link #open} does, and maps nothing. */
    public static void requireRoom(MemoryConfig config) {
        MemoryLimits.require(config, HostLimits.read());
    }

    static PageMemory open(MemoryConfig config, Consumer<Slab> onSlab, HostLimits limits) {
        PageMemory memory = openFirst(config, onSlab, limits);
        memory.takeRest();
        return memory;
    }

    static PageMemory openFirst(MemoryConfig config, Consumer<Slab> onSlab,
            HostLimits limits) {
        MemoryLimits.require(config, limits);
        PageMemory memory = new PageMemory(config, onSlab);
        memory.mapper.mapFirst();
        return memory;
    }

    /**
     * Starts mapping the other slabs in the background; each is used as soon as it is mapped. Call
     * once, from any thread, when the gateway is idle: it keeps a core busy. After {@link #close}
     * it does nothing.
     */
    public void takeRest() {
        mapper.startRest();
    }

    /** Returns the large slot's size, which is the longest page's. */
    public int pageBytes() {
        return pageBytes;
    }

    /**
     * Allocates pages of the given lengths, all or none, each with its owner's count; null if there
     * is no room now.
     */
    public @Nullable List<Page> tryAllocate(int[] lengths, Pool pool) {
        requireOpen();
        return pages(lengths, slots.tryTake(lengths, pool), pool);
    }

    /**
     * Allocates as {@link #tryAllocate} does, from the gaps between smaller pages: the last resort,
     * since such pages need longer scatter lists.
     */
    public @Nullable List<Page> tryGather(int[] lengths, Pool pool) {
        requireOpen();
        return pages(lengths, slots.tryGather(lengths, pool), pool);
    }

    private @Nullable List<Page> pages(int[] lengths, @Nullable List<SlotRange> taken, Pool pool) {
        if (taken == null) {
            return null;
        }
        List<Page> pages = new ArrayList<>(lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            pages.add(new Page(pool == Pool.CACHE ? cached : uncached, taken.get(i), lengths[i])
                    .shown());
        }
        return pages;
    }

    /**
     * Returns a page of the reserve for a fabric to place bytes in. Only the slice's lease keeps
     * it. Null if the reserve is full: then decline.
     */
    public @Nullable PageSlice tryLand(long objectOffset, int length) {
        requireOpen();
        List<SlotRange> taken = slots.tryTake(new int[]{length}, Pool.RESERVE);
        if (taken == null) {
            return null;
        }
        Page page = new Page(landing, taken.getFirst(), length).shown();
        return new PageSlice(new Lease(page, Lease.NOTHING, leases.opened()), objectOffset, 0,
                length);
    }

    /**
     * Runs {@code waiter} once, after slots were freed or joined, on the thread that freed them: it
     * must be cheap. Try again after registering, since earlier frees do not count.
     */
    public void whenFreed(Runnable waiter) {
        waiting.add(waiter);
    }

    /** Runs {@code listener} each time a slab has joined, on the background thread. */
    public void onGrowth(Runnable listener) {
        onGrowth.add(listener);
    }

    public MemoryStats stats() {
        return slots.stats(condemnedBytes.sum(), leases.open(), leases.oldest());
    }

    /** Returns the use of all slots; briefly takes the lock of misses and frees. */
    public SlotMap map() {
        return SlotMap.of(slots, pageBytes);
    }

    /** Frees everything; throws if a lease is open. */
    @Override
    public void close() {
        long open = leases.open();
        if (open != 0) {
            throw new IllegalStateException(open + " leases are still open");
        }
        if (closed.compareAndSet(false, true)) {
            mapper.close();
        }
    }

    /** Advances the age of leases; called once a second, or their ages stay 0. */
    public void tick() {
        leases.tick();
    }

    void condemned(long bytes) {
        condemnedBytes.add(bytes);
    }

    void free(SlotRange slotRanges, Pool pool, long wereCondemnedBytes) {
        condemnedBytes.add(-wereCondemnedBytes);
        slots.giveBack(slotRanges, pool);
        wake();
    }

    private void wake() {
        // Emptied before any runs: a waiter that registers again waits for the next free.
        List<Runnable> woken = new ArrayList<>();
        for (Runnable waiter = waiting.poll(); waiter != null; waiter = waiting.poll()) {
            woken.add(waiter);
        }
        woken.forEach(Runnable::run);
    }

    private void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException("page memory is closed");
        }
    }
}
