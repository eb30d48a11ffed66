package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.railhead.os.BlockFile;
import io.railhead.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A disk in memory that fails, hangs and forgets as it is told. Its bytes outlive its closing. */
final class FaultyDisk implements BlockFile {
    static final int EIO = 5;

    volatile boolean closed;
    /** Runs before each read and write, on its thread. */
    volatile Runnable onCall = () -> {};
    final AtomicInteger hanging = new AtomicInteger();
    private final MemorySegment bytes;
    private volatile boolean failingReads;
    private volatile boolean failingWrites;
    private volatile long failingAt = -1;
    private final AtomicInteger failuresLeft = new AtomicInteger();
    private volatile @Nullable CountDownLatch hungWrites;
    private volatile @Nullable CountDownLatch hung;
    /** Writes that are still done; then the power is cut. */
    private final AtomicInteger writesLeft = new AtomicInteger(Integer.MAX_VALUE);
    /** Syncs before the one that fails. */
    private final AtomicInteger syncsLeft = new AtomicInteger(Integer.MAX_VALUE);

    FaultyDisk(long size) {
        this.bytes = Arena.ofAuto().allocate(size, BLOCK_BYTES);
    }

    private FaultyDisk(MemorySegment bytes) {
        this(bytes.byteSize());
        this.bytes.copyFrom(bytes);
    }

    /** Returns a disk with the bytes as they are now, as after a crash. */
    FaultyDisk copy() {
        return new FaultyDisk(bytes);
    }

    void failReads(boolean fail) {
        failingReads = fail;
    }

    /** The next reads of one place fail, so many times. */
    void failReadsAt(long at, int times) {
        failingAt = at;
        failuresLeft.set(times);
    }

    void failWrites(boolean fail) {
        failingWrites = fail;
    }

    /** From now on, calls wait for {@link #goOn}. */
    void hang() {
        hung = new CountDownLatch(1);
    }

    /** From now on, writes wait for {@link #goOn}; reads do not. */
    void hangWrites() {
        hungWrites = new CountDownLatch(1);
    }

    void goOn() {
        CountDownLatch latch = hung;
        hung = null;
        if (latch != null) {
            latch.countDown();
        }
        CountDownLatch writes = hungWrites;
        hungWrites = null;
        if (writes != null) {
            writes.countDown();
        }
    }

    /** After so many more writes, of which the last is torn, writes are forgotten. */
    void cutAfter(int writes) {
        writesLeft.set(writes);
    }

    /** After so many more syncs, one fails. */
    void failSyncAfter(int syncs) {
        syncsLeft.set(syncs);
    }

    void flipBit(long bit) {
        long at = bit / Byte.SIZE;
        byte mask = (byte) (1 << bit % Byte.SIZE);
        bytes.set(JAVA_BYTE, at, (byte) (bytes.get(JAVA_BYTE, at) ^ mask));
    }

    MemorySegment content() {
        return bytes;
    }

    @Override
    public long bytes() {
        return bytes.byteSize();
    }

    @Override
    public void read(MemorySegment into, long at) {
        check(into, at);
        onCall.run();
        await(hung);
        if (failingReads || (at == failingAt && failuresLeft.getAndUpdate(
                count -> Math.max(0, count - 1)) > 0)) {
            throw new OsException("pread: told to fail", EIO);
        }
        into.copyFrom(bytes.asSlice(at, into.byteSize()));
    }

    @Override
    public void write(MemorySegment from, long at) {
        check(from, at);
        onCall.run();
        await(hung);
        await(hungWrites);
        if (failingWrites) {
            throw new OsException("pwrite: told to fail", EIO);
        }
        int left = writesLeft.getAndUpdate(count -> Math.max(0, count - 1));
        if (left > 0) {
            long done = left == 1 ? from.byteSize() / 2 : from.byteSize();
            MemorySegment.copy(from, 0, bytes, at, done);
        }
    }

    /** Refuses what O_DIRECT refuses. */
    private static void check(MemorySegment memory, long at) {
        if (memory.address() % BLOCK_BYTES != 0 || memory.byteSize() % BLOCK_BYTES != 0
                || at % BLOCK_BYTES != 0) {
            throw new OsException("not aligned: " + memory + " at " + at, 22);
        }
    }

    private void await(@Nullable CountDownLatch latch) {
        if (latch != null) {
            hanging.incrementAndGet();
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } finally {
                hanging.decrementAndGet();
            }
        }
    }

    @Override
    public void sync() {
        if (failingWrites || syncsLeft.getAndDecrement() == 0) {
            throw new OsException("fdatasync: told to fail", EIO);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
