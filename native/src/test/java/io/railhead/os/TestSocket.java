package io.railhead.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A UNIX stream socket that attaches to a message as many descriptors as a test wants. Calls block,
 * for a minute at most. One thread.
 */
public final class TestSocket implements AutoCloseable {
    private static final short AF_UNIX = 1;
    private static final int SOCK_STREAM_CLOEXEC = 1 | 0x80000;
    private static final int SO_RCVTIMEO = 20;
    private static final int SO_SNDTIMEO = 21;
    private static final long TIMEOUT_SECONDS = 60;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final long PATH_BYTES = 108;

    private static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT,
            JAVA_INT);
    private static final MethodHandle SOCKETPAIR = handle("socketpair", JAVA_INT, JAVA_INT,
            JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle CONNECT = handle("connect", JAVA_INT, JAVA_INT, ADDRESS,
            JAVA_INT);
    private static final MethodHandle SETSOCKOPT = handle("setsockopt", JAVA_INT, JAVA_INT,
            JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle READ = handle("read", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_LONG);
    private static final MethodHandle SENDMSG = handle("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS,
            JAVA_INT);

    private final int descriptor;

    private TestSocket(int descriptor) {
        this.descriptor = descriptor;
    }

    public static TestSocket connect(Path path) throws IOException {
        TestSocket socket = new TestSocket((int) call("socket",
                state -> (int) SOCKET.invokeExact(state, (int) AF_UNIX, SOCK_STREAM_CLOEXEC, 0)));
        try (Arena arena = Arena.ofConfined()) {
            socket.limitTime(arena, SO_RCVTIMEO);
            socket.limitTime(arena, SO_SNDTIMEO);
            MemorySegment address = arena.allocate(Short.BYTES + PATH_BYTES);
            address.set(JAVA_SHORT, 0, AF_UNIX);
            byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
            MemorySegment.copy(name, 0, address, JAVA_BYTE, Short.BYTES, name.length);
            call("connect", state -> (int) CONNECT.invokeExact(state, socket.descriptor, address,
                    (int) address.byteSize()));
            return socket;
        } catch (IOException | RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    static TestSocket[] pair() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment two = arena.allocate(JAVA_INT, 2);
            call("socketpair", state -> (int) SOCKETPAIR.invokeExact(state, (int) AF_UNIX,
                    SOCK_STREAM_CLOEXEC, 0, two));
            return new TestSocket[]{new TestSocket(two.getAtIndex(JAVA_INT, 0)),
                    new TestSocket(two.getAtIndex(JAVA_INT, 1))};
        }
    }

    int descriptor() {
        return descriptor;
    }

    /** Sends the bytes, and with the first of them the descriptors. */
    public void send(ByteBuffer bytes, int... descriptors) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment control = RightsControl.of(arena, descriptors);
            while (bytes.hasRemaining()) {
                MemorySegment rest = arena.allocate(bytes.remaining())
                        .copyFrom(MemorySegment.ofBuffer(bytes));
                MemorySegment header = SocketMessage.of(arena, rest, control).segment();
                long sent = call("sendmsg",
                        state -> (long) SENDMSG.invokeExact(state, descriptor, header,
                                MSG_NOSIGNAL));
                bytes.position(bytes.position() + (int) sent);
                control = RightsControl.of(arena);
            }
        }
    }

    /** How many bytes came; 0 at the end. */
    public int read(ByteBuffer target) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(target.remaining());
            long read = call("read",
                    state -> (long) READ.invokeExact(state, descriptor, bytes, bytes.byteSize()));
            target.put(bytes.asSlice(0, read).asByteBuffer());
            return (int) read;
        }
    }

    @Override
    public void close() {
        Libc.close(descriptor);
    }

    private void limitTime(Arena arena, int option) throws IOException {
        MemorySegment time = arena.allocate(JAVA_LONG, 2);
        time.set(JAVA_LONG, 0, TIMEOUT_SECONDS);
        call("setsockopt", state -> (int) SETSOCKOPT.invokeExact(state, descriptor,
                RightsControl.SOL_SOCKET, option, time, (int) time.byteSize()));
    }

    private static long call(String name, Libc.Call call) throws IOException {
        try {
            return Libc.call(name, call);
        } catch (OsException e) {
            if (e.errno() == Libc.EAGAIN) {
                throw new AssertionError("nothing for a minute", e);
            }
            throw new IOException(e);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, MemoryLayout result,
            MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(result, arguments),
                Linker.Option.captureCallState("errno"));
    }
}
