package io.railhead.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A connected UNIX stream socket that can pass descriptors. Its calls allocate nothing, for threads
 * that spin before they sleep.
 *
 * <p> It has one sender, one receiver and one thread in {@link #awaitEnd} at a time, perhaps three
 * threads. {@link #shutDown} makes all of them return. Call {@link #close} after that. Calls throw
 * {@link OsException}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/unix.7.html">unix(7)</a>
 */
public final class StreamSocket implements AutoCloseable {
    private static final short AF_UNIX = 1;
    private static final int SOCK_STREAM_CLOEXEC = 1 | 0x80000;
    private static final int EFD_NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SHUT_RDWR = 2;
    private static final int EPIPE = 32;
    private static final int ECONNRESET = 104;
    private static final long PATH_BYTES = 108;
    private static final short POLLIN = 0x1;
    private static final short POLLHUP = 0x10;
    private static final short POLLRDHUP = 0x2000;
    private static final long POLLFD_BYTES = 8;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final int descriptor;
    private final int wakeUp;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment sendState = arena.allocate(Native.STATE);
    private final MemorySegment receiveState = arena.allocate(Native.STATE);
    private final MemorySegment endState = arena.allocate(Native.STATE);
    private final MemorySegment receivePoll = arena.allocate(POLLFD_BYTES, Integer.BYTES);
    private final MemorySegment endPoll = arena.allocate(2 * POLLFD_BYTES, Integer.BYTES);
    private final MemorySegment count = arena.allocate(JAVA_LONG);
    private final MemorySegment one = arena.allocateFrom(JAVA_LONG, 1);

    private StreamSocket(int descriptor, int wakeUp) {
        this.descriptor = descriptor;
        this.wakeUp = wakeUp;
        expect(receivePoll, 0, descriptor, POLLIN);
        expect(endPoll, 0, descriptor, POLLRDHUP);
        expect(endPoll, POLLFD_BYTES, wakeUp, POLLIN);
    }

    private static void expect(MemorySegment poll, long at, int descriptor, short events) {
        poll.set(JAVA_INT, at, descriptor);
        poll.set(JAVA_SHORT, at + 4, events);
    }

    public static StreamSocket connect(Path path) {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length >= PATH_BYTES) {
            throw new OsException("connect: path is longer than " + (PATH_BYTES - 1) + " bytes", 0);
        }
        int descriptor = (int) Libc.call("socket", state -> (int) Native.SOCKET.invokeExact(state,
                (int) AF_UNIX, SOCK_STREAM_CLOEXEC, 0));
        try (Arena call = Arena.ofConfined()) {
            MemorySegment address = call.allocate(Short.BYTES + PATH_BYTES, Short.BYTES);
            address.set(JAVA_SHORT, 0, AF_UNIX);
            MemorySegment.copy(name, 0, address, JAVA_BYTE, Short.BYTES, name.length);
            Libc.call("connect", state -> (int) Native.CONNECT.invokeExact(state, descriptor,
                    address, (int) address.byteSize()));
            int wakeUp = (int) Libc.call("eventfd",
                    state -> (int) Native.EVENTFD.invokeExact(state, 0, EFD_NONBLOCK_CLOEXEC));
            return new StreamSocket(descriptor, wakeUp);
        } catch (RuntimeException | Error e) {
            Libc.close(descriptor);
            throw e;
        }
    }

    /** Sends the first {@code bytes} of the segment; blocks while the receiver's buffer is full. */
    public void send(MemorySegment from, long bytes) {
        long sent = 0;
        while (sent < bytes) {
            long now = call(Native.SEND, sendState, from.asSlice(sent), bytes - sent,
                    MSG_NOSIGNAL);
            if (now >= 0) {
                sent += now;
            } else if (errno(sendState) != Libc.EINTR) {
                throw failure("send", sendState);
            }
        }
    }

    /** Sends one byte with a descriptor, which stays the caller's. */
    public void sendDescriptor(int passed) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment control = RightsControl.of(call, passed);
            MemorySegment header = SocketMessage.of(call, call.allocate(1), control).segment();
            Libc.call("sendmsg", state -> (long) Native.SENDMSG.invokeExact(state, descriptor,
                    header, MSG_NOSIGNAL));
        }
    }

    /**
     * Receives the bytes that have come, without waiting.
     *
     * @return the number of bytes; 0 if there are none now; -1 at the end
     */
    public long receive(MemorySegment target, long offset) {
        long bytes = call(Native.RECV, receiveState, target.asSlice(offset),
                target.byteSize() - offset, Libc.MSG_DONTWAIT);
        if (bytes > 0) {
            return bytes;
        }
        if (bytes == 0) {
            return -1;
        }
        return switch (errno(receiveState)) {
            case Libc.EAGAIN, Libc.EINTR -> 0;
            case ECONNRESET, EPIPE -> -1;
            default -> throw failure("recv", receiveState);
        };
    }

    /** Waits for bytes or the end; at most so long. */
    public void awaitBytes(long nanos) {
        poll(receiveState, receivePoll, 1, nanos);
    }

    /**
     * Waits until the other end has closed or {@link #wakeUp} is called, at most so long. Bytes
     * that come meanwhile wake no thread.
     *
     * @return whether the other end has closed, or this one has shut down
     */
    public boolean awaitEnd(long nanos) {
        poll(endState, endPoll, 2, nanos);
        if (endPoll.get(JAVA_SHORT, POLLFD_BYTES + 6) != 0) {
            long _ = eight(Native.READ, endState, count);
        }
        return (endPoll.get(JAVA_SHORT, 6) & (POLLRDHUP | POLLHUP)) != 0;
    }

    /** Makes a thread return from {@link #awaitEnd}, or the next one that enters it. Any thread. */
    public void wakeUp() {
        try (Arena call = Arena.ofConfined()) {
            long _ = eight(Native.WRITE, call.allocate(Native.STATE), one);
        }
    }

    /** Shuts the connection down in both directions; the descriptor stays open. Any thread. */
    public void shutDown() {
        try {
            Libc.call("shutdown", state -> (int) Native.SHUTDOWN.invokeExact(state, descriptor,
                    SHUT_RDWR));
        } catch (OsException _) {
            // The other end has closed already.
        }
    }

    @Override
    public void close() {
        Libc.close(wakeUp);
        Libc.close(descriptor);
    }

    private static void poll(MemorySegment state, MemorySegment poll, long descriptors,
            long nanos) {
        // Rounded up, so that a wait below a millisecond does not become none.
        long millis = (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
        int ready;
        try {
            ready = (int) Native.POLL.invokeExact(state, poll, descriptors,
                    (int) Math.min(millis, Integer.MAX_VALUE));
        } catch (Throwable e) {
            throw unexpected(e);
        }
        if (ready < 0 && errno(state) != Libc.EINTR) {
            throw failure("poll", state);
        }
        if (ready <= 0) {
            poll.set(JAVA_SHORT, 6, (short) 0);
            if (descriptors > 1) {
                poll.set(JAVA_SHORT, POLLFD_BYTES + 6, (short) 0);
            }
        }
    }

    private long call(MethodHandle handle, MemorySegment state, MemorySegment bytes, long length,
            int flags) {
        try {
            return (long) handle.invokeExact(state, descriptor, bytes, length, flags);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private long eight(MethodHandle handle, MemorySegment state, MemorySegment bytes) {
        try {
            return (long) handle.invokeExact(state, wakeUp, bytes, (long) Long.BYTES);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static int errno(MemorySegment state) {
        return state.get(JAVA_INT, Native.ERRNO);
    }

    private static OsException failure(String name, MemorySegment state) {
        return new OsException(name + ": errno " + errno(state), errno(state));
    }

    private static RuntimeException unexpected(Throwable e) {
        if (e instanceof RuntimeException unchecked) {
            return unchecked;
        }
        if (e instanceof Error error) {
            throw error;
        }
        throw new AssertionError("a downcall threw a checked exception", e);
    }

    /** Resolved on first use, as those of {@link Libc} are. */
    private static final class Native {
        static final MemoryLayout STATE = Linker.Option.captureStateLayout();
        static final long ERRNO = Linker.Option.captureStateLayout()
                .byteOffset(MemoryLayout.PathElement.groupElement("errno"));
        static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT,
                JAVA_INT);
        static final MethodHandle CONNECT = handle("connect", JAVA_INT, JAVA_INT, ADDRESS,
                JAVA_INT);
        static final MethodHandle EVENTFD = handle("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
        static final MethodHandle SEND = handle("send", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG,
                JAVA_INT);
        static final MethodHandle RECV = handle("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG,
                JAVA_INT);
        static final MethodHandle SENDMSG = handle("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_INT);
        static final MethodHandle POLL = handle("poll", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
        static final MethodHandle READ = handle("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
        static final MethodHandle WRITE = handle("write", JAVA_LONG, JAVA_INT, ADDRESS,
                JAVA_LONG);
        static final MethodHandle SHUTDOWN = handle("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);

        @SuppressWarnings("restricted")
        private static MethodHandle handle(String name, MemoryLayout result,
                MemoryLayout... arguments) {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().findOrThrow(name),
                    FunctionDescriptor.of(result, arguments),
                    Linker.Option.captureCallState("errno"));
        }
    }
}
