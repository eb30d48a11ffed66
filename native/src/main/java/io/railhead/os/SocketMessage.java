package io.railhead.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/** A struct msghdr with one struct iovec, as 64-bit Linux lays them out. One thread. */
final class SocketMessage {
    private static final StructLayout VECTOR = MemoryLayout.structLayout(
            ADDRESS.withName("iov_base"), JAVA_LONG.withName("iov_len"));
    private static final StructLayout HEADER = MemoryLayout.structLayout(
            ADDRESS.withName("msg_name"), JAVA_INT.withName("msg_namelen"),
            MemoryLayout.paddingLayout(4),
            ADDRESS.withName("msg_iov"), JAVA_LONG.withName("msg_iovlen"),
            ADDRESS.withName("msg_control"), JAVA_LONG.withName("msg_controllen"),
            JAVA_INT.withName("msg_flags"), MemoryLayout.paddingLayout(4));

    private static final VarHandle BASE = VECTOR.varHandle(PathElement.groupElement("iov_base"));
    private static final VarHandle LENGTH = VECTOR.varHandle(PathElement.groupElement("iov_len"));
    private static final VarHandle VECTORS = field("msg_iov");
    private static final VarHandle VECTOR_COUNT = field("msg_iovlen");
    private static final VarHandle CONTROL = field("msg_control");
    private static final VarHandle CONTROL_LENGTH = field("msg_controllen");
    private static final VarHandle FLAGS = field("msg_flags");

    private final MemorySegment segment;

    private SocketMessage(MemorySegment segment) {
        this.segment = segment;
    }

    /** Builds a message that lives as long as the arena; the segments must live as long. */
    static SocketMessage of(Arena arena, MemorySegment bytes, MemorySegment control) {
        MemorySegment vector = arena.allocate(VECTOR);
        BASE.set(vector, 0L, bytes);
        LENGTH.set(vector, 0L, bytes.byteSize());
        MemorySegment header = arena.allocate(HEADER);
        VECTORS.set(header, 0L, vector);
        VECTOR_COUNT.set(header, 0L, 1L);
        CONTROL.set(header, 0L, control);
        CONTROL_LENGTH.set(header, 0L, control.byteSize());
        return new SocketMessage(header);
    }

    MemorySegment segment() {
        return segment;
    }

    /** Returns how much of the control buffer the kernel has filled. */
    long controlLength() {
        return (long) CONTROL_LENGTH.get(segment, 0L);
    }

    boolean isControlTruncated() {
        return ((int) FLAGS.get(segment, 0L) & Libc.MSG_CTRUNC) != 0;
    }

    private static VarHandle field(String name) {
        return HEADER.varHandle(PathElement.groupElement(name));
    }
}
