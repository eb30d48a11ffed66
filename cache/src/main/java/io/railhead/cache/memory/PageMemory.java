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
 * All registered memory: slabs cut into slots, handed out as pages. Any thread. It owns every slab;
 * pages own slots for as long as their count is above zero; leases own counts. Slabs are unmapped
 * by {@link #close} alone, and never under an open lease.
 */
public final class PageMemory implements AutoCloseable {

    /** Which memory a page may come from. */
    public enum Pool {
        /** What the index may hold. */
        CACHE,
        /** What never holds cached data: uncached RDMA and PUT landing. */
        RESERVE
    }

    /**
     * What pages of one kind share.
     *
     * @param owned whether someone but a lease keeps it
     */
    record Origin(PageMemory memory, Pool pool, boolean owned) {}

    private final Origin cached = new Origin(this, Pool.CACHE, true);
    private final Origin uncached = new Origin(this, Pool.RESERVE, true);
    private final Origin landing = new Origin(this, Pool.RESERVE, false);
    private final SlotAllocator slots;
    private final SlabMapper mapper;
    private final int pageBytes;
    private final LeaseAges leases = new LeaseAges();
    private final LongAdder condemnedBytes = new LongAdder();
    private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private final CopyOnWriteArrayList<Runnable> onGrowth = new CopyOnWriteArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    private PageMemory(MemoryConfig config, Consumer<Slab> onSlab) {
        this.slots = new SlotAllocator(config.pageBytes(), config.reserveRatio());
        this.pageBytes = config.pageBytes();
        this.mapper = new SlabMapper(config, onSlab, this::join);
    }

    /** Over what {@link #join} brings: for measurements. */
    static PageMemory over(MemoryConfig config) {
        return new PageMemory(config, slab -> {});
    }

    void join(MemorySegment slab) {
        slots.join(slab);
        onGrowth.forEach(Runnable::run);
        wake();
    }

    /** As {@link #openFirst}, and {@link #takeRest} at once. */
    public static PageMemory open(MemoryConfig config, Consumer<Slab> onSlab) {
        return open(config, onSlab, HostLimits.read());
    }

    /**
     * Takes the first slab, and returns when it serves.
     *
     * @param onSlab called once per slab before any of its pages is handed out: fabrics register it
     * @throws IllegalArgumentException in one line naming what to set, where the machine cannot
     *             give as much
     */
    public static PageMemory openFirst(MemoryConfig config, Consumer<Slab> onSlab) {
        return openFirst(config, onSlab, HostLimits.read());
    }

    /** Throws what {@link #open} would, and takes nothing. */
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
     * Has the other slabs taken in the background, each of which serves as soon as it is there.
     * Once, by any thread, and when there is nothing better to do: it keeps a core busy. After
     * {@link #close} it does nothing.
     */
    public void takeRest() {
        mapper.startRest();
    }

    /** The large slot, and so the longest page. */
    public int pageBytes() {
        return pageBytes;
    }

    /**
     * Pages of the given lengths, all or none, each with its owner's count; null where there is no
     * room now.
     */
    public @Nullable List<Page> tryAllocate(int[] lengths, Pool pool) {
        requireOpen();
        return pages(lengths, slots.tryTake(lengths, pool), pool);
    }

    /**
     * As {@link #tryAllocate}, of the gaps between smaller pages alone: the last resort, since what
     * is sent from there takes longer lists.
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
     * A page of the reserve for a fabric to place bytes in; the slice's lease is all that keeps it.
     * Null where the reserve is full: decline.
     */
    public @Nullable PageSlice tryLand(long objectOffset, int length) {
        requireOpen();
        List<SlotRange> taken = slots.tryTake(new int[]{length}, Pool.RESERVE);
        if (taken == null) {
            return null;
        }
        Page page = new Page(landing, taken.getFirst(), length).shown();
        return new PageSlice(new Lease(page, Lease.NOTHING, leaseOpened()), objectOffset, 0,
                length);
    }

    /**
     * Runs {@code waiter} once, when slots were freed or joined after this call; on the thread that
     * freed them, so it must be cheap. Look again after registering: what was freed before does not
     * count.
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

    /** What all slots are used for; takes the lock of misses and frees for moments. */
    public SlotMap map() {
        return SlotMap.of(slots, pageBytes);
    }

    /** Frees everything; throws where a lease is still open. */
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

    /** Leases are so much older; called once a second, or their ages stay 0. */
    public void tick() {
        leases.tick();
    }

    /** When it was, for {@link #leaseClosed}. */
    int leaseOpened() {
        return leases.opened();
    }

    void leaseClosed(int opened) {
        leases.closed(opened);
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
        // Emptied before any runs: one that registers again waits for the next time.
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
