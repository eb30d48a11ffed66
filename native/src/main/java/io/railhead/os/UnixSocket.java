package io.railhead.os;

import io.railhead.os.DescriptorMessage.Ended;
import io.railhead.os.DescriptorMessage.Nothing;
import io.railhead.os.DescriptorMessage.One;
import io.railhead.os.DescriptorMessage.Refused;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Receives descriptors on a UNIX stream socket, which stays the caller's. Any thread, one at a time
 * for each socket; no call blocks.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/unix.7.html">unix(7)</a>
 */
public final class UnixSocket {
    private static final int FLAGS = Libc.MSG_DONTWAIT | Libc.MSG_CMSG_CLOEXEC;

    private UnixSocket() {}

    /**
     * Receives one byte with its descriptors. A sender may attach up to 253. The control buffer has
     * room for exactly one, so the kernel closes all others, reports that, and never enters them
     * into this process's table.
     */
    public static DescriptorMessage receiveDescriptor(int socket) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment control = RightsControl.allocate(arena, 1);
            SocketMessage header = SocketMessage.of(arena, arena.allocate(1), control);
            long bytes = Libc.recvmsg(socket, header.segment(), FLAGS);
            int descriptor = RightsControl.first(control, header.controlLength());
            return header.isControlTruncated()
                    ? refuseAll(descriptor)
                    : describe(bytes, descriptor);
        } catch (OsException e) {
            if (e.errno() == Libc.EAGAIN || e.errno() == Libc.EINTR) {
                return new Nothing();
            }
            throw e;
        }
    }

    /**
     * Returns another descriptor of the same socket, which the caller must close; child processes
     * do not inherit it.
     */
    public static int duplicate(int socket) {
        return Libc.duplicate(socket);
    }

    private static DescriptorMessage describe(long bytes, int descriptor) {
        if (descriptor >= 0) {
            return new One(descriptor);
        }
        return bytes == 0 ? new Ended() : new Refused("bytes without a descriptor");
    }

    private static Refused refuseAll(int descriptor) {
        if (descriptor < 0) {
            return new Refused("a descriptor that this process cannot take: too many are open");
        }
        Libc.close(descriptor);
        return new Refused("more than one descriptor");
    }
}
