package io.railhead.os;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A {@link BlockFile} past the kernel's page cache (O_DIRECT), locked against other processes that
 * open it so.
 *
 * <p> A descriptor's number is reused once it is closed, so it is closed after the last call has
 * returned.
 */
public final class DirectFile implements BlockFile {
    private static final int TYPE = 0170000;
    private static final int BLOCK_DEVICE = 0060000;

    private final int descriptor;
    private final long bytes;
    private int calls;
    private boolean closed;

    private DirectFile(int descriptor, long bytes) {
        this.descriptor = descriptor;
        this.bytes = bytes;
    }

    /**
     * Opens or creates a file and locks it. Its space is taken from the file system now, so that
     * the disk cannot be full later. A device must be large enough, and nobody can mount it while
     * it is open. Throws {@link OsException}, {@link #isLocked} if another process has the file,
     * {@link #isMounted} if the kernel has the device.
     *
     * @param bytes a multiple of the block's size; 0 for the whole device or existing file
     */
    public static DirectFile open(String path, long bytes) {
        if (bytes < 0 || bytes % BLOCK_BYTES != 0) {
            throw new IllegalArgumentException("bytes must be whole blocks: " + bytes);
        }
        int descriptor = isDevice(path)
                ? openExclusively(path)
                : Libc.openDirect(path, Libc.O_RDWR | Libc.O_CREAT);
        try {
            Libc.lockNow(descriptor);
            long before = Libc.sizeOf(descriptor);
            if (before < bytes) {
                Libc.fallocate(descriptor, bytes);
            }
            long size = bytes == 0 ? before - before % BLOCK_BYTES : bytes;
            return new DirectFile(descriptor, size);
        } catch (RuntimeException | Error e) {
            try {
                Libc.close(descriptor);
            } catch (OsException closing) {
                e.addSuppressed(closing);
            }
            throw e;
        }
    }

    /**
     * Opens a device that nobody else has. The lock alone would not do: each container has a file
     * of its own for the same device.
     */
    private static int openExclusively(String device) {
        try {
            return Libc.openDirect(device, Libc.O_RDWR | Libc.O_EXCL);
        } catch (OsException e) {
            if (isMounted(e)) {
                requireUnlocked(device);
            }
            throw e;
        }
    }

    private static void requireUnlocked(String path) {
        int descriptor = Libc.openDirect(path, Libc.O_RDWR);
        try {
            Libc.lockNow(descriptor);
        } finally {
            Libc.close(descriptor);
        }
    }

    /**
     * Opens a device or file whole, only to be read, without a lock: others may have it, and write
     * to it. Throws {@link OsException}.
     */
    public static DirectFile openForReads(String path) {
        int descriptor = Libc.openDirect(path, Libc.O_RDONLY);
        try {
            long bytes = Libc.sizeOf(descriptor);
            return new DirectFile(descriptor, bytes - bytes % BLOCK_BYTES);
        } catch (RuntimeException | Error e) {
            Libc.close(descriptor);
            throw e;
        }
    }

    /** Returns whether a path names a block device. */
    public static boolean isDevice(String path) {
        try {
            return Files.getAttribute(Path.of(path), "unix:mode") instanceof Integer mode
                    && (mode & TYPE) == BLOCK_DEVICE;
        } catch (IOException | UnsupportedOperationException e) {
            // There is no such file: opening it says why.
            return false;
        }
    }

    /**
     * Returns whether the device is used exclusively: a mount, swap, a volume made of it, or a
     * process in another container.
     */
    public static boolean isMounted(OsException refusal) {
        return refusal.errno() == Libc.EBUSY;
    }

    /** Returns whether this user may not read and write the file. */
    public static boolean isForbidden(OsException refusal) {
        return refusal.errno() == Libc.EACCES;
    }

    /** Returns whether another process has locked the file. */
    public static boolean isLocked(OsException refusal) {
        return refusal.errno() == Libc.EWOULDBLOCK;
    }

    /** Returns whether the file system knows no direct reads and writes. */
    public static boolean isRefusedDirect(OsException refusal) {
        return refusal.errno() == Libc.EINVAL;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void read(MemorySegment into, long at) {
        transfer("pread", into.byteSize(),
                done -> Libc.pread(descriptor, into.asSlice(done), at + done));
    }

    @Override
    public void write(MemorySegment from, long at) {
        transfer("pwrite", from.byteSize(),
                done -> Libc.pwrite(descriptor, from.asSlice(done), at + done));
    }

    private interface Piece {
        long from(long done);
    }

    /** Repeats a call that a signal interrupted, or that moved a part. */
    private void transfer(String name, long length, Piece piece) {
        enter();
        try {
            long done = 0;
            while (done < length) {
                long moved = moved(piece, done);
                if (moved == 0) {
                    throw new OsException(name + ": the file ended early", Libc.EIO);
                }
                done += moved;
            }
        } finally {
            leave();
        }
    }

    private static long moved(Piece piece, long done) {
        while (true) {
            try {
                return piece.from(done);
            } catch (OsException e) {
                if (e.errno() != Libc.EINTR) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void sync() {
        enter();
        try {
            Libc.fdatasync(descriptor);
        } finally {
            leave();
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            closeIfUnused();
        }
    }

    private synchronized void enter() {
        if (closed) {
            throw new OsException("the file is closed", 0);
        }
        calls++;
    }

    private synchronized void leave() {
        calls--;
        closeIfUnused();
    }

    private void closeIfUnused() {
        if (closed && calls == 0) {
            Libc.close(descriptor);
        }
    }
}
