package io.railhead.cache.writeback;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.railhead.os.BlockFile;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A disk in memory that may lose, or keep any part of, what was not flushed. Sectors are written
 * whole or not at all, in any order.
 */
final class PowerCutDisk implements BlockFile {
    private static final int SECTOR_BYTES = 512;
    private static final int EIO = 5;

    private final byte[] flushed;
    private final List<Write> unflushed = new ArrayList<>();
    /** Runs before each write and flush, on its thread. */
    volatile Runnable before = () -> {};
    /** Flushes that succeed before the others fail. */
    volatile int goodSyncs = Integer.MAX_VALUE;
    volatile boolean failingWrites;
    private int syncs;

    @SuppressWarnings("ArrayRecordComponent")
    private record Write(long at, byte[] bytes) {}

    PowerCutDisk(int bytes) {
        this(new byte[bytes]);
    }

    private PowerCutDisk(byte[] flushed) {
        this.flushed = flushed;
    }

    /** Returns the disk as it is after a power cut now. */
    synchronized PowerCutDisk cut(Random random) {
        byte[] left = flushed.clone();
        keepSome(left, random);
        return new PowerCutDisk(left);
    }

    /** Lets the power fail, and come back. */
    synchronized void lose(Random random) {
        keepSome(flushed, random);
        unflushed.clear();
    }

    private void keepSome(byte[] left, Random random) {
        int kept = random.nextInt(4);
        for (Write write : unflushed) {
            for (int from = 0; from < write.bytes.length; from += SECTOR_BYTES) {
                boolean isKept = switch (kept) {
                    case 0 -> false;
                    case 1 -> true;
                    default -> random.nextBoolean();
                };
                if (isKept) {
                    System.arraycopy(write.bytes, from, left, (int) write.at + from,
                            SECTOR_BYTES);
                }
            }
        }
    }

    /** Returns the disk as the next process sees it after a kill: nothing is lost. */
    synchronized PowerCutDisk afterKill() {
        return new PowerCutDisk(current());
    }

    private byte[] current() {
        byte[] all = flushed.clone();
        unflushed.forEach(write -> System.arraycopy(write.bytes, 0, all, (int) write.at,
                write.bytes.length));
        return all;
    }

    synchronized void flip(long at) {
        flushed[(int) at] ^= 1;
    }

    synchronized void clear(int at, int bytes) {
        java.util.Arrays.fill(flushed, at, at + bytes, (byte) 0);
    }

    /** Takes some bytes from a disk, as if what was written there since had been lost. */
    synchronized void restore(PowerCutDisk former, long at, int bytes) {
        System.arraycopy(former.flushed, (int) at, flushed, (int) at, bytes);
    }

    /** Returns the place of some bytes. */
    synchronized long find(byte[] wanted) {
        byte[] all = current();
        for (int at = 0; at + wanted.length <= all.length; at++) {
            if (java.util.Arrays.equals(all, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        throw new AssertionError("not on the disk");
    }

    synchronized int syncs() {
        return syncs;
    }

    @Override
    public long bytes() {
        return flushed.length;
    }

    @Override
    public synchronized void read(MemorySegment into, long at) {
        byte[] bytes = new byte[(int) into.byteSize()];
        System.arraycopy(flushed, (int) at, bytes, 0, bytes.length);
        for (Write write : unflushed) {
            long begin = Math.max(at, write.at);
            long end = Math.min(at + bytes.length, write.at + write.bytes.length);
            if (begin < end) {
                System.arraycopy(write.bytes, (int) (begin - write.at), bytes, (int) (begin - at),
                        (int) (end - begin));
            }
        }
        MemorySegment.copy(bytes, 0, into, JAVA_BYTE, 0, bytes.length);
    }

    @Override
    public void write(MemorySegment from, long at) {
        if (from.address() % BLOCK_BYTES != 0 || from.byteSize() % BLOCK_BYTES != 0
                || at % BLOCK_BYTES != 0) {
            throw new OsException("not aligned: " + from + " at " + at, 22);
        }
        before.run();
        if (failingWrites) {
            throw new OsException("pwrite: told to fail", EIO);
        }
        synchronized (this) {
            unflushed.add(new Write(at, from.toArray(JAVA_BYTE)));
        }
    }

    @Override
    public void sync() {
        before.run();
        synchronized (this) {
            if (goodSyncs == 0) {
                throw new OsException("fdatasync: told to fail", EIO);
            }
            goodSyncs--;
            syncs++;
            byte[] all = current();
            System.arraycopy(all, 0, flushed, 0, all.length);
            unflushed.clear();
        }
    }

    @Override
    public void close() {
        // Its bytes outlive it.
    }
}
