package io.railhead.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Set;

/**
 * The system calls for memory and passing descriptors, with glibc's constants for Linux on x86_64
 * and aarch64, which agree on all of these. Every call succeeds, or throws {@link OsException} with
 * its errno. Addresses are passed as {@code long}; only {@link #view} turns one into a segment.
 */
final class Libc {
    static final int EINTR = 4;
    static final int EAGAIN = 11;
    static final int EINVAL = 22;

    static final int MAP_SHARED = 0x1;
    static final int MAP_PRIVATE = 0x2;
    static final int MAP_ANONYMOUS = 0x20;
    static final int MADV_HUGEPAGE = 14;
    static final int MADV_POPULATE_WRITE = 23;

    static final int F_SEAL_SEAL = 0x1;
    static final int F_SEAL_SHRINK = 0x2;
    static final int F_SEAL_GROW = 0x4;

    static final long TMPFS_MAGIC = 0x01021994;

    static final int MSG_CTRUNC = 0x8;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_CMSG_CLOEXEC = 0x40000000;

    static final int POLLIN = 0x1;
    static final int EFD_FLAGS = 0x80000 | 0x800;

    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int PROT_READ_WRITE = 0x1 | 0x2;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    static final int MFD_HUGETLB = 0x4;
    static final int MFD_HUGE_SHIFT = 26;

    static final int EIO = 5;
    static final int EACCES = 13;
    static final int EBUSY = 16;
    static final int EWOULDBLOCK = EAGAIN;

    static final int O_RDONLY = 0;
    static final int O_RDWR = 2;
    static final int O_CREAT = 0x40;
    /** For a device without {@link #O_CREAT}: fails where the kernel itself uses the device. */
    static final int O_EXCL = 0x80;
    /** The one constant here that differs: bits are numbered otherwise on aarch64. */
    private static final int O_DIRECT = "aarch64".equals(System.getProperty("os.arch"))
            ? 0x10000
            : 0x4000;
    private static final int OWNER_ONLY = 0600;
    private static final int LOCK_EXCLUSIVE_NOW = 2 | 4;
    private static final int O_CLOEXEC = 0x80000;
    private static final int MFD_CLOEXEC = 0x1;
    private static final int MFD_ALLOW_SEALING = 0x2;
    private static final int SEEK_END = 2;
    private static final int RLIMIT_MEMLOCK = 8;
    /** At least the size of struct statfs on either architecture. */
    private static final long STATFS_BYTES = 256;

    private Libc() {}

    static long mmap(long bytes, int flags, int descriptor) {
        return call("mmap", state -> (long) Handles.MMAP.invokeExact(state, 0L, bytes,
                PROT_READ_WRITE, flags, descriptor, 0L));
    }

    static void munmap(long address, long bytes) {
        call("munmap", state -> (int) Handles.MUNMAP.invokeExact(state, address, bytes));
    }

    static void madvise(long address, long bytes, int advice) {
        call("madvise", state -> (int) Handles.MADVISE.invokeExact(state, address, bytes, advice));
    }

    static void mlock(long address, long bytes) {
        call("mlock", state -> (int) Handles.MLOCK.invokeExact(state, address, bytes));
    }

    static int memfdCreate(String name) {
        return memfdCreate(name, 0);
    }

    /** Creates a memfd with {@code flags} besides close-on-exec and sealing. */
    static int memfdCreate(String name, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment cName = arena.allocateFrom(name);
            return (int) call("memfd_create", state -> (int) Handles.MEMFD_CREATE.invokeExact(state,
                    cName, MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
        }
    }

    static void ftruncate(int descriptor, long bytes) {
        call("ftruncate", state -> (int) Handles.FTRUNCATE.invokeExact(state, descriptor, bytes));
    }

    static void addSeals(int descriptor, int seals) {
        call("fcntl(F_ADD_SEALS)",
                state -> (int) Handles.FCNTL.invokeExact(state, descriptor, F_ADD_SEALS, seals));
    }

    static int seals(int descriptor) {
        return (int) call("fcntl(F_GET_SEALS)",
                state -> (int) Handles.FCNTL.invokeExact(state, descriptor, F_GET_SEALS, 0));
    }

    static long sizeOf(int descriptor) {
        return call("lseek",
                state -> (long) Handles.LSEEK.invokeExact(state, descriptor, 0L, SEEK_END));
    }

    static long fileSystemOf(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment statfs = arena.allocate(STATFS_BYTES, Long.BYTES);
            call("fstatfs", state -> (int) Handles.FSTATFS.invokeExact(state, descriptor, statfs));
            return statfs.get(JAVA_LONG, 0);
        }
    }

    static int duplicate(int descriptor) {
        return (int) call("fcntl(F_DUPFD_CLOEXEC)",
                state -> (int) Handles.FCNTL.invokeExact(state, descriptor, F_DUPFD_CLOEXEC, 0));
    }

    static void duplicateTo(int descriptor, int number) {
        call("dup3", state -> (int) Handles.DUP3.invokeExact(state, descriptor, number, O_CLOEXEC));
    }

    static long recvmsg(int socket, MemorySegment header, int flags) {
        return call("recvmsg",
                state -> (long) Handles.RECVMSG.invokeExact(state, socket, header, flags));
    }

    static void setNonBlocking(int descriptor) {
        long flags = call("fcntl(F_GETFL)",
                state -> (int) Handles.FCNTL.invokeExact(state, descriptor, F_GETFL, 0));
        call("fcntl(F_SETFL)", state -> (int) Handles.FCNTL.invokeExact(state, descriptor, F_SETFL,
                (int) flags | O_NONBLOCK));
    }

    /** Returns memory for a call's errno, for callers that must not allocate. */
    static MemorySegment newState(Arena arena) {
        requireSupported();
        return arena.allocate(Handles.STATE);
    }

    /**
     * Polls without allocation, since pollers sleep between one request and the next.
     *
     * @return how many are ready, or the negated errno
     */
    static int poll(MemorySegment state, MemorySegment pollfds, int count, int timeoutMillis) {
        try {
            int ready = (int) Handles.POLL.invokeExact(state, pollfds, (long) count,
                    timeoutMillis);
            return ready < 0 ? -(int) Handles.ERRNO.get(state, 0L) : ready;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a downcall threw a checked exception", e);
        }
    }

    static int eventfd() {
        return (int) call("eventfd",
                state -> (int) Handles.EVENTFD.invokeExact(state, 0, EFD_FLAGS));
    }

    static long read(int descriptor, MemorySegment buffer) {
        return call("read", state -> (long) Handles.READ.invokeExact(state, descriptor, buffer,
                buffer.byteSize()));
    }

    static long write(int descriptor, MemorySegment buffer) {
        return call("write", state -> (long) Handles.WRITE.invokeExact(state, descriptor, buffer,
                buffer.byteSize()));
    }

    static void close(int descriptor) {
        call("close", state -> (int) Handles.CLOSE.invokeExact(state, descriptor));
    }

    /**
     * Opens a file for direct reads and writes.
     *
     * @param how {@link #O_RDWR}, {@link #O_CREAT} and so on
     */
    static int openDirect(String path, int how) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment cPath = arena.allocateFrom(path);
            return (int) call("open(O_DIRECT)", state -> (int) Handles.OPEN.invokeExact(state,
                    cPath, how | O_DIRECT | O_CLOEXEC, OWNER_ONLY));
        }
    }

    /** Locks a file for this process alone; fails with {@link #EWOULDBLOCK} if another has it. */
    static void lockNow(int descriptor) {
        call("flock",
                state -> (int) Handles.FLOCK.invokeExact(state, descriptor, LOCK_EXCLUSIVE_NOW));
    }

    static void fallocate(int descriptor, long bytes) {
        call("fallocate",
                state -> (int) Handles.FALLOCATE.invokeExact(state, descriptor, 0, 0L, bytes));
    }

    static long pread(int descriptor, MemorySegment buffer, long at) {
        return call("pread", state -> (long) Handles.PREAD.invokeExact(state, descriptor, buffer,
                buffer.byteSize(), at));
    }

    static long pwrite(int descriptor, MemorySegment buffer, long at) {
        return call("pwrite", state -> (long) Handles.PWRITE.invokeExact(state, descriptor, buffer,
                buffer.byteSize(), at));
    }

    static void fdatasync(int descriptor) {
        call("fdatasync", state -> (int) Handles.FDATASYNC.invokeExact(state, descriptor));
    }

    /** Returns the soft limit, unsigned: all ones means no limit. */
    static long memlockLimit() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment rlimit = arena.allocate(2L * Long.BYTES, Long.BYTES);
            call("getrlimit",
                    state -> (int) Handles.GETRLIMIT.invokeExact(state, RLIMIT_MEMLOCK, rlimit));
            return rlimit.get(JAVA_LONG, 0);
        }
    }

    /** Returns the memory at an address as a segment that is unmapped with {@code arena}. */
    @SuppressWarnings("restricted")
    static MemorySegment view(long address, long bytes, Arena arena) {
        return MemorySegment.ofAddress(address)
                .reinterpret(bytes, arena, segment -> munmap(segment.address(), bytes));
    }

    static String message(int errno) {
        return Handles.message(errno);
    }

    interface Call {
        long invoke(MemorySegment state) throws Throwable;
    }

    static long call(String name, Call call) {
        requireSupported();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Handles.STATE);
            long result = invoke(call, state);
            if (result == -1) {
                int errno = (int) Handles.ERRNO.get(state, 0L);
                throw new OsException(name + ": " + Handles.message(errno), errno);
            }
            return result;
        }
    }

    private static long invoke(Call call, MemorySegment state) {
        try {
            return call.invoke(state);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a downcall threw a checked exception", e);
        }
    }

    private static void requireSupported() {
        String system = System.getProperty("os.name");
        String machine = System.getProperty("os.arch");
        if (!"Linux".equals(system) || !Set.of("amd64", "aarch64").contains(machine)) {
            throw new OsException(
                    "needs Linux on x86_64 or aarch64, this is " + system + " on " + machine, 0);
        }
    }

    /** Resolved on first use, so that another system gets a message and not a linkage error. */
    private static final class Handles {
        private static final StructLayout STATE = Linker.Option.captureStateLayout();
        private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

        private static final MethodHandle MMAP = handle("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG,
                JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
        private static final MethodHandle MUNMAP = handle("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
        private static final MethodHandle MADVISE = handle("madvise", JAVA_INT, JAVA_LONG,
                JAVA_LONG, JAVA_INT);
        private static final MethodHandle MLOCK = handle("mlock", JAVA_INT, JAVA_LONG, JAVA_LONG);
        private static final MethodHandle MEMFD_CREATE = handle("memfd_create", JAVA_INT, ADDRESS,
                JAVA_INT);
        private static final MethodHandle FTRUNCATE = handle("ftruncate", JAVA_INT, JAVA_INT,
                JAVA_LONG);
        private static final MethodHandle FCNTL = link("fcntl",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
                Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(2));
        private static final MethodHandle DUP3 = handle("dup3", JAVA_INT, JAVA_INT, JAVA_INT,
                JAVA_INT);
        private static final MethodHandle LSEEK = handle("lseek", JAVA_LONG, JAVA_INT, JAVA_LONG,
                JAVA_INT);
        private static final MethodHandle FSTATFS = handle("fstatfs", JAVA_INT, JAVA_INT, ADDRESS);
        private static final MethodHandle RECVMSG = handle("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_INT);
        private static final MethodHandle POLL = handle("poll", JAVA_INT, ADDRESS, JAVA_LONG,
                JAVA_INT);
        private static final MethodHandle EVENTFD = handle("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
        private static final MethodHandle READ = handle("read", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_LONG);
        private static final MethodHandle WRITE = handle("write", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_LONG);
        private static final MethodHandle OPEN = link("open",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
                Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(2));
        private static final MethodHandle FLOCK = handle("flock", JAVA_INT, JAVA_INT, JAVA_INT);
        private static final MethodHandle FALLOCATE = handle("fallocate", JAVA_INT, JAVA_INT,
                JAVA_INT, JAVA_LONG, JAVA_LONG);
        private static final MethodHandle PREAD = handle("pread", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_LONG, JAVA_LONG);
        private static final MethodHandle PWRITE = handle("pwrite", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_LONG, JAVA_LONG);
        private static final MethodHandle FDATASYNC = handle("fdatasync", JAVA_INT, JAVA_INT);
        private static final MethodHandle CLOSE = handle("close", JAVA_INT, JAVA_INT);
        private static final MethodHandle GETRLIMIT = handle("getrlimit", JAVA_INT, JAVA_INT,
                ADDRESS);
        private static final MethodHandle STRERROR = link("strerror",
                FunctionDescriptor.of(ADDRESS, JAVA_INT));

        private static MethodHandle handle(String name, MemoryLayout result,
                MemoryLayout... arguments) {
            return link(name, FunctionDescriptor.of(result, arguments),
                    Linker.Option.captureCallState("errno"));
        }

        @SuppressWarnings("restricted")
        private static MethodHandle link(String name, FunctionDescriptor descriptor,
                Linker.Option... options) {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor,
                    options);
        }

        @SuppressWarnings("restricted")
        private static String message(int errno) {
            try {
                MemorySegment text = (MemorySegment) STRERROR.invokeExact(errno);
                return text.reinterpret(Long.MAX_VALUE).getString(0) + " (errno " + errno + ")";
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError("a downcall threw a checked exception", e);
            }
        }
    }
}
