package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;

/**
 * The structures of a context, a queue pair and a completion queue in memory, whose inline
 * functions are this object's: posts are read back as the library would read them.
 */
final class FakeAdapter implements AutoCloseable {
    private static final int ENOMEM = 12;

    /** A work request as it was found in memory. */
    record Posted(long id, int opcode, int flags, long remote, int rkey, int immediate,
            List<Entry> entries) {}

    record Entry(long address, int bytes, int lkey) {}

    final Foreign.QueuePair queuePair;
    final Foreign.CompletionQueue queue;
    final List<Posted> posted = new ArrayList<>();
    /** How many requests it still takes. */
    int room = Integer.MAX_VALUE;
    int completions;
    private final Arena arena = Arena.ofShared();

    FakeAdapter() throws IOException, ReflectiveOperationException {
        MemorySegment context = arena.allocate(512, 8);
        context.set(JAVA_LONG, Layout.Context.OPS_POST_SEND,
                stub("postSend", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        context.set(JAVA_LONG, Layout.Context.OPS_POST_RECV,
                stub("postReceive", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        context.set(JAVA_LONG, Layout.Context.OPS_POLL_CQ,
                stub("poll", JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
        context.set(JAVA_LONG, Layout.Context.OPS_REQ_NOTIFY_CQ,
                stub("notify", JAVA_INT, JAVA_LONG, JAVA_INT));
        Foreign.Context owner = new Foreign.Context(context.address(), false);
        MemorySegment cq = arena.allocate(128, 128);
        cq.set(JAVA_LONG, Layout.Cq.CONTEXT, context.address());
        queue = new Foreign.CompletionQueue(cq.address(), owner, null);
        MemorySegment qp = arena.allocate(128, 128);
        qp.set(JAVA_LONG, Layout.Qp.CONTEXT, context.address());
        qp.set(JAVA_INT, Layout.Qp.QP_NUM, 17);
        queuePair = new Foreign.QueuePair(qp.address(),
                new Foreign.ProtectionDomain(0, owner), queue, queue, 2);
    }

    /**
     * Makes the inline functions one of the C library's that only looks at its argument, and
     * returns its low seven bits: 0 for these addresses.
     */
    static FakeAdapter ofNothing() throws IOException, ReflectiveOperationException {
        FakeAdapter fake = new FakeAdapter();
        long lowBits = Linker.nativeLinker().defaultLookup().findOrThrow("toascii").address();
        MemorySegment context = Memory
                .view(((Foreign.Context) fake.queue.getContext()).address, 512);
        context.set(JAVA_LONG, Layout.Context.OPS_POST_SEND, lowBits);
        context.set(JAVA_LONG, Layout.Context.OPS_POST_RECV, lowBits);
        context.set(JAVA_LONG, Layout.Context.OPS_POLL_CQ, lowBits);
        return fake;
    }

    Foreign.QueuePair anotherQueuePair() throws IOException {
        return new Foreign.QueuePair(queuePair.address, queuePair.getPd(), queue, queue, 2);
    }

    Foreign.CompletionQueue anotherQueue() throws IOException {
        return new Foreign.CompletionQueue(queue.address, queue.getContext(), null);
    }

    @SuppressWarnings("restricted")
    private long stub(String method, MemoryLayout result, MemoryLayout... arguments)
            throws ReflectiveOperationException {
        FunctionDescriptor descriptor = FunctionDescriptor.of(result, arguments);
        return Linker.nativeLinker()
                .upcallStub(MethodHandles.lookup()
                        .bind(this, method, descriptor.toMethodType()), descriptor, arena)
                .address();
    }

    int postSend(long queuePairAddress, long request, long bad) {
        for (long at = request; at != 0; at = Memory.getLong(at + Layout.SendWr.NEXT)) {
            if (room-- == 0) {
                Memory.view(bad, Long.BYTES).set(JAVA_LONG, 0, at);
                return ENOMEM;
            }
            posted.add(new Posted(Memory.getLong(at + Layout.SendWr.WR_ID),
                    Memory.getInt(at + Layout.SendWr.OPCODE),
                    Memory.getInt(at + Layout.SendWr.SEND_FLAGS),
                    Memory.getLong(at + Layout.SendWr.REMOTE_ADDR),
                    Memory.getInt(at + Layout.SendWr.RKEY),
                    Integer.reverseBytes(Memory.getInt(at + Layout.SendWr.IMM_DATA)),
                    entries(Memory.getLong(at + Layout.SendWr.SG_LIST),
                            Memory.getInt(at + Layout.SendWr.NUM_SGE))));
        }
        return 0;
    }

    int postReceive(long queuePairAddress, long request, long bad) {
        for (long at = request; at != 0; at = Memory.getLong(at + Layout.RecvWr.NEXT)) {
            posted.add(new Posted(Memory.getLong(at + Layout.RecvWr.WR_ID), 0, 0, 0, 0, 0,
                    entries(Memory.getLong(at + Layout.RecvWr.SG_LIST),
                            Memory.getInt(at + Layout.RecvWr.NUM_SGE))));
        }
        return 0;
    }

    private static List<Entry> entries(long list, int count) {
        List<Entry> entries = new ArrayList<>();
        for (long at = list; at < list + count * Layout.Sge.SIZE; at += Layout.Sge.SIZE) {
            entries.add(new Entry(Memory.getLong(at + Layout.Sge.ADDR),
                    Memory.getInt(at + Layout.Sge.LENGTH), Memory.getInt(at + Layout.Sge.LKEY)));
        }
        return entries;
    }

    int poll(long queueAddress, int count, long target) {
        int polled = Math.min(count, completions);
        MemorySegment array = Memory.view(target, count * Layout.Wc.SIZE);
        for (int i = 0; i < polled; i++) {
            long at = i * Layout.Wc.SIZE;
            array.set(JAVA_LONG, at + Layout.Wc.WR_ID, 100L + i);
            array.set(JAVA_INT, at + Layout.Wc.STATUS, i);
            array.set(JAVA_INT, at + Layout.Wc.OPCODE, Completions.RECEIVE);
            array.set(JAVA_INT, at + Layout.Wc.BYTE_LEN, 1000 + i);
            array.set(JAVA_INT, at + Layout.Wc.WC_FLAGS, 2);
            array.set(JAVA_INT, at + Layout.Wc.IMM_DATA, Integer.reverseBytes(7 + i));
            array.set(JAVA_INT, at + Layout.Wc.QP_NUM, 17);
        }
        completions -= polled;
        return completions < 0 ? -1 : polled;
    }

    int notify(long queueAddress, int solicitedOnly) {
        return solicitedOnly == 0 ? 0 : ENOMEM;
    }

    @Override
    public void close() {
        arena.close();
    }
}
