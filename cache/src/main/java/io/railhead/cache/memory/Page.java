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
 * The memory of one fill; the object is never used for another, only its slots are.
 *
 * <pre>
 *   FILLING ──publish──▶ READY ──condemn──▶ CONDEMNED
 *      └────────────condemn──────────────────▲
 * </pre>
 *
 * The count starts at one, the owner's: while FILLING the owner is the filler and nobody else
 * condemns the page; {@link #publish} lets it pass to whoever keeps the page. {@link #condemn}
 * drops the owner's count, each {@link Lease} its own, and at zero, which is terminal, the slots
 * return to the allocator. A landing page has no owner: its one lease is all that keeps it.
 *
 * <p> Threads: one filler; {@code count} and {@code state} change by CAS, so that retaining and
 * releasing never wait. The release in {@code publish} orders the filler's bytes before any reader
 * that saw READY.
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
    /** The filler's; null once {@link #checksum} is that of all bytes. */
    private @Nullable Written written = new Written();
    private int checksum;
    /**
     * Where the last read ended, 0 before the first, {@link #UNREAD} while nobody has asked for it;
     * a hint, so it is not ordered with anything.
     */
    private int readTo;
    private volatile int count = 1;
    private volatile State state = State.FILLING;

    /** What only a page that is being filled needs: many pages are held, few are filled. */
    private static final class Written {
        private final CRC32C crc = new CRC32C();
        private int bytes;
    }

    Page(PageMemory.Origin origin, SlotRange slotRanges, int length) {
        this.origin = origin;
        this.slotRanges = slotRanges;
        this.length = length;
    }

    /** Whole by now: from here on it is seen where its slots are looked at. */
    Page shown() {
        VarHandle.storeStoreFence();
        for (SlotRange slotRange = slotRanges; slotRange != null; slotRange = slotRange.next()) {
            slotRange.ownedBy(this);
        }
        return this;
    }

    /** Bytes that are valid once the page is ready. */
    public int length() {
        return length;
    }

    /** What the page takes from its pool: its length rounded up to slots. */
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

    /** Whether all bytes are there; stays true when the page is condemned later. */
    public boolean isPublished() {
        State now = state;
        return now == State.READY || now == State.EVICTED;
    }

    /** What its slots are used for, as a hint. */
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

    /** Bytes up to here have been read, and perhaps the next ones will be. */
    public void readTo(int end) {
        readTo = end;
    }

    /** Nobody has asked for it yet, who fills it says before others see it. */
    public void fetchedAhead() {
        readTo = UNREAD;
    }

    /** Whether it was fetched ahead and still has to be read, as a hint. */
    public boolean isUnread() {
        return readTo == UNREAD;
    }

    /** Whether the last read ended here, or this one is the first that was waited for; a hint. */
    public boolean wasReadTo(int end) {
        return readTo == end || readTo == UNREAD;
    }

    /** Whether anyone but the owner holds it, as a hint. */
    public boolean isLeased() {
        return count > 1;
    }

    /** The checksum of the bytes that were written; empty for a landing page. */
    public OptionalInt crc32c() {
        if (!isPublished()) {
            throw new IllegalStateException("page is " + state);
        }
        return written == null ? OptionalInt.of(checksum) : OptionalInt.empty();
    }

    /** Bytes that may still be written. Filler only. */
    public int remaining() {
        return written == null ? 0 : length - written.bytes;
    }

    /**
     * Whether its bytes are those that were written; reads all of them, and holds the page for so
     * long as a lease would, but counts as none. A page that is not held any more is no fault.
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

    /** Adds all its bytes to a checksum. Who holds it. */
    public void addTo(Checksum sum) {
        for (MemorySegment each : cut(0, length)) {
            sum.update(each.asByteBuffer());
        }
    }

    /** Appends what remains of {@code bytes}, which must fit. Filler only. */
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
     * Declares the bytes valid. Filler only: after it has written all of them, or, with none
     * written here, once a fabric has placed them.
     */
    public void publish() {
        Written filled = requireFilling();
        if (filled.bytes != length && filled.bytes != 0) {
            throw new IllegalStateException(
                    "page has " + filled.bytes + " of " + length + " bytes");
        }
        if (filled.bytes == length) {
            checksum = (int) filled.crc.getValue();
        }
        written = filled.bytes == length ? null : NOTHING_WRITTEN;
        if (!STATE.compareAndSet(this, State.FILLING, State.READY)) {
            throw new IllegalStateException("page is " + state);
        }
    }

    /**
     * Drops the owner's count; a page that is still FILLING is condemned by its filler only.
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

    /** A lease, or null where the page is condemned: a miss. */
    public @Nullable Lease tryRetain() {
        return tryRetain(Lease.NOTHING);
    }

    /**
     * As {@link #tryRetain()}.
     *
     * @param afterClose runs once the lease has ended, on the thread that ended it: must be cheap
     */
    public @Nullable Lease tryRetain(Runnable afterClose) {
        return tryHold() ? new Lease(this, afterClose, origin.memory().leaseOpened()) : null;
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
        origin.memory().leaseClosed(opened);
    }

    /**
     * {@code [offset, offset + bytes)} as segments, one per stretch of adjacent slots; writable
     * only while the page is FILLING.
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

    /** As {@link #segments}, allocating nothing: addresses and bytes into the arrays. */
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

    private boolean isCondemned() {
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
