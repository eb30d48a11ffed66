package io.railhead.cache.memory;

import io.railhead.cache.memory.PageMemory.Pool;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one fill. A page object is never reused; its slots are.
 *
 * <pre>
 *   FILLING ──publish──▶ READY ──condemn──▶ EVICTED
 *      └─────condemn──▶ FAILED
 * </pre>
 *
 * The reference count starts at one, the owner's. While FILLING, the filler owns the page, and only
 * the filler may condemn it. {@link #publish} allows the index to take ownership. {@link #condemn}
 * drops the owner's count, and each {@link Lease} drops its own. Zero is terminal: the slots return
 * to the allocator. A landing page has no owner: its one lease keeps it.
 *
 * <p> Threads: one filler; {@code count} and {@code state} change by CAS, so that retaining and
 * releasing never wait. The release in {@code publish} orders the filler's bytes before any reader
 * that saw READY.
 *
 * <p> A long class, since every method depends on this one count and state.
 */
public final class Page implements SlotUse {
    private static final int UNREAD = -1;

    private enum State {
        FILLING,
        READY,
        EVICTED,
        FAILED
    }

    private static final VarHandle COUNT;
    private static final VarHandle STATE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            COUNT = lookup.findVarHandle(Page.class, "count", int.class);
            STATE = lookup.findVarHandle(Page.class, "state", State.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Written NOTHING_WRITTEN = new Written();

    private final PageMemory.Origin origin;
    private final SlotRange slotRanges;
    private final int length;
    /** The filler's state; null once {@link #checksum} covers all bytes. */
    private @Nullable Written written = new Written();
    private int checksum;
    /**
     * The end of the last read: 0 before the first, {@link #UNREAD} for a prefetched page without a
     * read. A hint, so unordered with other fields.
     */
    private int readTo;
    /** Set before the page is put into the index, which orders it before readers. */
    private String tenant = "";
    /** Set by the filler, before the page is published. */
    private boolean guest;
    private volatile int count = 1;
    private volatile State state = State.FILLING;

    /** The state that only a filling page needs, kept apart since few of many pages are filling. */
    private static final class Written {
        private final CRC32C crc = new CRC32C();
        private int bytes;
        /** The checksum of bytes that came at once, with their checksum. */
        private int placedCrc;
        private boolean placed;

        int checksum() {
            return placed ? placedCrc : (int) crc.getValue();
        }
    }

    private record Lent(Lease lease, List<MemorySegment> segments,
            int length) implements LentMemory {
        @Override
        public void close() {
            lease.close();
        }
    }

    Page(PageMemory.Origin origin, SlotRange slotRanges, int length) {
        this.origin = origin;
        this.slotRanges = slotRanges;
        this.length = length;
    }

    /** Makes the page visible to readers of the slot map; called when it is complete. */
    Page shown() {
        VarHandle.storeStoreFence();
        for (SlotRange slotRange = slotRanges; slotRange != null; slotRange = slotRange.next()) {
            slotRange.ownedBy(this);
        }
        return this;
    }

    /** Returns the number of bytes that are valid once the page is ready. */
    public int length() {
        return length;
    }

    /** Returns the bytes taken from the pool: the length rounded up to slots. */
    public int slotBytes() {
        long bytes = 0;
        for (SlotRange slotRange = slotRanges; slotRange != null; slotRange = slotRange.next()) {
            bytes += slotRange.bytes();
        }
        return (int) bytes;
    }

    public Pool pool() {
        return origin.pool();
    }

    /** Returns whether the page was published; stays true when the page is condemned later. */
    public boolean isPublished() {
        State now = state;
        return now == State.READY || now == State.EVICTED;
    }

    /** Returns the use of its slots, as a hint. */
    SlotMap.Use use() {
        if (origin.pool() == Pool.RESERVE) {
            return SlotMap.Use.RESERVE;
        }
        return switch (state) {
            case FILLING -> SlotMap.Use.FILLING;
            case READY -> isLeased() ? SlotMap.Use.LEASED : SlotMap.Use.HELD;
            case EVICTED, FAILED -> SlotMap.Use.CONDEMNED;
        };
    }

    /** Notes that bytes up to here were read, so that a sequential read is recognised. */
    public void readTo(int end) {
        readTo = end;
    }

    /** Notes the tenant that the page was fetched for, before it is indexed. */
    public void fetchedFor(String owner) {
        tenant = owner;
    }

    /** Returns the tenant that the page was fetched for; "" before it is indexed. */
    public String tenant() {
        return tenant;
    }

    /** Marks a page that another gateway keeps as its own. Filler only. */
    public void asGuest() {
        guest = true;
    }

    /** Returns whether another gateway keeps the page as its own. */
    public boolean isGuest() {
        return guest;
    }

    /** Marks a prefetched page, before it is published. */
    public void fetchedAhead() {
        readTo = UNREAD;
    }

    /** Returns whether it was prefetched and has not been read, as a hint. */
    public boolean isUnread() {
        return readTo == UNREAD;
    }

    /**
     * Returns whether the last read ended here, or this is the first read of a prefetched page; a
     * hint.
     */
    public boolean wasReadTo(int end) {
        return readTo == end || readTo == UNREAD;
    }

    /** Returns whether there is a lease besides the owner's count, as a hint. */
    public boolean isLeased() {
        return count > 1;
    }

    /** Returns the checksum of the written bytes; empty for a landing page. */
    public OptionalInt crc32c() {
        if (!isPublished()) {
            throw new IllegalStateException("page is " + state);
        }
        return written == null ? OptionalInt.of(checksum) : OptionalInt.empty();
    }

    /**
     * Returns the checksum of the bytes. Those that a fabric has placed are looked at for the first
     * time then. The caller must hold the page.
     */
    public int requireCrc32c() {
        return crc32c().orElseGet(this::crcOfBytes);
    }

    /** Returns how many bytes may still be written. Filler only. */
    public int remaining() {
        return written == null ? 0 : length - written.bytes;
    }

    /**
     * Returns whether the bytes are those that were written. Reads all of them, and holds the page
     * meanwhile without counting as a lease. A page that was freed counts as intact.
     */
    public boolean isIntact() {
        if (!tryHold()) {
            return true;
        }
        try {
            return written != null || crcOfBytes() == checksum;
        } finally {
            release();
        }
    }

    private int crcOfBytes() {
        CRC32C crc = new CRC32C();
        addTo(crc);
        return (int) crc.getValue();
    }

    /**
     * Returns whether another published page has the same bytes; false too if one of them was
     * freed. Reads all bytes of both, unless their checksums differ.
     */
    public boolean hasBytesOf(Page other) {
        if (length != other.length || !tryHold()) {
            return false;
        }
        try {
            return other.tryHold() && sameBytesAsHeld(other);
        } finally {
            release();
        }
    }

    private boolean sameBytesAsHeld(Page other) {
        try {
            boolean summed = written == null && other.written == null;
            return (!summed || checksum == other.checksum)
                    && EqualBytes.in(cut(0, length), other.cut(0, length));
        } finally {
            other.release();
        }
    }

    /** Adds all bytes to a checksum. The caller must hold the page. */
    public void addTo(Checksum sum) {
        for (MemorySegment each : cut(0, length)) {
            sum.update(each.asByteBuffer());
        }
    }

    /** Appends the remaining bytes, which must fit. Filler only. */
    public void write(ByteBuffer bytes) {
        if (bytes.remaining() > remaining()) {
            throw new IllegalArgumentException(
                    bytes.remaining() + " bytes do not fit the page's " + remaining());
        }
        Written filled = requireFilling();
        MemorySegment source = MemorySegment.ofBuffer(bytes);
        int from = 0;
        for (MemorySegment target : cut(filled.bytes, bytes.remaining())) {
            MemorySegment.copy(source, from, target, 0, target.byteSize());
            filled.crc.update(target.asByteBuffer());
            from += (int) target.byteSize();
        }
        filled.bytes += from;
        bytes.position(bytes.limit());
    }

    /**
     * Returns the memory of the next bytes up to the next gap, a direct buffer. Filler only: it may
     * be written, and {@link #landed} called, until the page is published or condemned.
     */
    public ByteBuffer room() {
        Written filled = requireFilling();
        return cut(filled.bytes, remaining()).getFirst().asByteBuffer();
    }

    /** Appends bytes that were written into the memory from {@link #room}. Filler only. */
    public void landed(int bytes) {
        if (bytes > remaining()) {
            throw new IllegalArgumentException(
                    bytes + " bytes do not fit the page's " + remaining());
        }
        Written filled = requireFilling();
        for (MemorySegment each : cut(filled.bytes, bytes)) {
            filled.crc.update(each.asByteBuffer());
        }
        filled.bytes += bytes;
    }

    /**
     * Lends the memory for all bytes. Filler only, before any byte: until the end of the loan the
     * filler calls {@link #condemn} at most, and then {@link #placed}.
     */
    public LentMemory lend() {
        if (requireFilling().bytes != 0) {
            throw new IllegalStateException("the page has bytes already");
        }
        Lease lease = tryRetain();
        if (lease == null) {
            throw new IllegalStateException("page is " + state);
        }
        int slots = Math.ceilDiv(length, SlotAllocator.SMALL_BYTES);
        return new Lent(lease, cut(0, slots * SlotAllocator.SMALL_BYTES), length);
    }

    /** Takes all bytes, which are in the memory that was lent, with their CRC32C. Filler only. */
    public void placed(int crc32c) {
        Written filled = requireFilling();
        if (filled.bytes != 0) {
            throw new IllegalStateException("the page has bytes already");
        }
        filled.bytes = length;
        filled.placedCrc = crc32c;
        filled.placed = true;
    }

    /**
     * Makes the bytes valid. Filler only: after all bytes were written here, or none, when a fabric
     * has placed them.
     */
    public void publish() {
        Written filled = requireFilling();
        if (filled.bytes != length && filled.bytes != 0) {
            throw new IllegalStateException(
                    "page has " + filled.bytes + " of " + length + " bytes");
        }
        if (filled.bytes == length) {
            checksum = filled.checksum();
        }
        written = filled.bytes == length ? null : NOTHING_WRITTEN;
        if (!STATE.compareAndSet(this, State.FILLING, State.READY)) {
            throw new IllegalStateException("page is " + state);
        }
    }

    /**
     * Drops the owner's count; while FILLING, only the filler may call this.
     *
     * @return false if it was condemned before
     */
    public boolean condemn() {
        if (!origin.owned()) {
            throw new IllegalStateException("a landing page has no owner to condemn it");
        }
        State now = state;
        while (now == State.FILLING || now == State.READY) {
            State next = now == State.READY ? State.EVICTED : State.FAILED;
            if (STATE.compareAndSet(this, now, next)) {
                origin.memory().condemned(slotBytes());
                release();
                return true;
            }
            now = state;
        }
        return false;
    }

    /** Returns a lease; null if the page is condemned, which counts as a miss. */
    public @Nullable Lease tryRetain() {
        return tryRetain(Lease.NOTHING);
    }

    /**
     * Returns a lease as {@link #tryRetain()} does.
     *
     * @param afterClose runs at the lease's end, on the thread that ended it: must be cheap
     */
    public @Nullable Lease tryRetain(Runnable afterClose) {
        return tryHold() ? new Lease(this, afterClose, origin.leases().opened()) : null;
    }

    /**
     * Returns one more lease. The caller holds an open one, so a page that is condemned meanwhile
     * is no miss.
     */
    Lease retainAgain() {
        int _ = (int) COUNT.getAndAdd(this, 1);
        return new Lease(this, Lease.NOTHING, origin.leases().opened());
    }

    private boolean tryHold() {
        int now = count;
        while (now > 0 && !isCondemned()) {
            if (COUNT.compareAndSet(this, now, now + 1)) {
                return true;
            }
            now = count;
        }
        return false;
    }

    void endLease(int opened) {
        release();
        origin.leases().closed(opened);
    }

    /**
     * Returns {@code [offset, offset + bytes)} as segments, one for each range of adjacent slots;
     * writable only while the page is FILLING.
     */
    List<MemorySegment> segments(int offset, int bytes) {
        List<MemorySegment> cut = cut(offset, bytes);
        if (state != State.FILLING) {
            cut.replaceAll(MemorySegment::asReadOnly);
        }
        return cut;
    }

    /** Copies {@code [offset, offset + bytes)} to {@code at} of the target; allocates nothing. */
    void copyTo(int offset, int bytes, MemorySegment target, long at) {
        long start = 0;
        for (SlotRange slotRange = slotRanges; slotRange != null; slotRange = slotRange.next()) {
            long from = Math.max(offset, start);
            long to = Math.min((long) offset + bytes, start + slotRange.bytes());
            if (from < to) {
                slotRange.copyTo(from - start, to - from, target, at + from - offset);
            }
            start += slotRange.bytes();
        }
    }

    private List<MemorySegment> cut(int offset, int bytes) {
        List<MemorySegment> cut = new ArrayList<>(1);
        long start = 0;
        for (SlotRange slotRange = slotRanges; slotRange != null; slotRange = slotRange.next()) {
            long from = Math.max(offset, start);
            long to = Math.min((long) offset + bytes, start + slotRange.bytes());
            if (from < to) {
                cut.add(slotRange.segment().asSlice(from - start, to - from));
            }
            start += slotRange.bytes();
        }
        return cut;
    }

    /** Writes the addresses and lengths of {@link #segments} into the arrays; allocates nothing. */
    int stretches(int offset, int bytes, long[] addresses, int[] lengths, int at) {
        int found = 0;
        long start = 0;
        for (SlotRange slotRange = slotRanges; slotRange != null; slotRange = slotRange.next()) {
            long from = Math.max(offset, start);
            long to = Math.min((long) offset + bytes, start + slotRange.bytes());
            if (from < to) {
                addresses[at + found] = slotRange.address() + from - start;
                lengths[at + found] = (int) (to - from);
                found++;
            }
            start += slotRange.bytes();
        }
        return found;
    }

    private void release() {
        int now = count;
        while (now > 0) {
            if (COUNT.compareAndSet(this, now, now - 1)) {
                if (now == 1) {
                    origin.memory()
                            .free(slotRanges, origin.pool(), isCondemned() ? slotBytes() : 0);
                }
                return;
            }
            now = count;
        }
        throw new IllegalStateException("page released below zero");
    }

    /** Returns whether the page was evicted, or its fill failed: nobody can retain it any more. */
    public boolean isCondemned() {
        State now = state;
        return now == State.EVICTED || now == State.FAILED;
    }

    private Written requireFilling() {
        Written filled = written;
        if (state != State.FILLING || filled == null) {
            throw new IllegalStateException("page is " + state);
        }
        return filled;
    }
}
