package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvPd;
import io.railhead.os.EventDescriptor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * struct ibv_context in memory, whose poll_cq and req_notify_cq are this object's, and what is made
 * from it. Nothing is destroyed before what was made from it.
 */
final class FakeContext extends Foreign.Context {
    private static final long BYTES = 512;
    private static final int EBUSY = 16;

    /** A completion on its way to be polled. */
    record Completion(long id, int status, boolean isWrite, int queuePair, Runnable polled) {}

    private final FakeNic nic;
    private final AtomicInteger children = new AtomicInteger();

    private FakeContext(FakeNic nic, MemorySegment structure) throws IOException {
        super(structure.address(), true);
        this.nic = nic;
    }

    static FakeContext open(FakeNic nic, long device)
            throws IOException, ReflectiveOperationException {
        MemorySegment structure = nic.arena.allocate(BYTES, Long.BYTES);
        structure.set(JAVA_LONG, Layout.Context.DEVICE, device);
        structure.set(JAVA_INT, Layout.Context.NUM_COMP_VECTORS, 1);
        FakeContext context = new FakeContext(nic, structure);
        Upcalls upcalls = new Upcalls(context, nic.arena, nic::thrown);
        structure.set(JAVA_LONG, Layout.Context.OPS_POLL_CQ, upcalls.of("poll").address());
        structure.set(JAVA_LONG, Layout.Context.OPS_REQ_NOTIFY_CQ,
                upcalls.of("notifyNext").address());
        return context;
    }

    private static void requireUnused(String call, AtomicInteger uses) throws IOException {
        if (uses.get() != 0) {
            throw new VerbsException(call, EBUSY);
        }
    }

    int poll(long queue, int count, long target) {
        synchronized (nic) {
            Queue polled = nic.queues.get(queue);
            return polled == null ? -1 : polled.take(count, target);
        }
    }

    int notifyNext(long queue, int solicitedOnly) {
        synchronized (nic) {
            Queue armed = nic.queues.get(queue);
            if (armed == null) {
                return FakeNic.EINVAL;
            }
            armed.isArmed = true;
            return 0;
        }
    }

    @Override
    public IbvPd allocPd() throws IOException {
        return new Domain(nic.arena.allocate(16, 8).address(), this);
    }

    @Override
    public IbvCompChannel createCompChannel() throws IOException {
        return Channel.create(this);
    }

    @Override
    public IbvCQ createCQ(@Nullable IbvCompChannel channel, int entries, int vector)
            throws IOException {
        MemorySegment structure = nic.arena.allocate(128, Long.BYTES);
        structure.set(JAVA_LONG, Layout.Cq.CONTEXT, address);
        structure.set(JAVA_INT, Layout.Cq.CQE, entries);
        return new Queue(structure.address(), this, (Channel) channel, entries);
    }

    static final class Domain extends Foreign.ProtectionDomain {
        /** Queue pairs, address handles and registrations. */
        final AtomicInteger uses = new AtomicInteger();
        private final FakeContext owner;

        Domain(long address, FakeContext owner) throws IOException {
            super(address, owner);
            this.owner = owner;
            owner.children.incrementAndGet();
            synchronized (owner.nic) {
                owner.nic.domains.put(address, this);
            }
        }

        @Override
        public int deallocPd() throws IOException {
            requireUnused("ibv_dealloc_pd", uses);
            synchronized (owner.nic) {
                owner.nic.domains.remove(address);
            }
            close();
            owner.children.decrementAndGet();
            return 0;
        }
    }

    static final class Channel extends Foreign.CompletionChannel {
        private final FakeContext owner;
        private final EventDescriptor descriptor;
        private int events;

        private Channel(long address, FakeContext owner, EventDescriptor descriptor)
                throws IOException {
            super(address, owner);
            this.owner = owner;
            this.descriptor = descriptor;
            owner.children.incrementAndGet();
        }

        static Channel create(FakeContext owner) throws IOException {
            EventDescriptor descriptor = new EventDescriptor();
            MemorySegment structure = owner.nic.arena.allocate(16, Long.BYTES);
            structure.set(JAVA_INT, Layout.CompChannel.FD, descriptor.descriptor());
            return new Channel(structure.address(), owner, descriptor);
        }

        void event() {
            events++;
            descriptor.signal();
        }

        /** Waits for nothing: who sleeps does so on the descriptor. */
        @Override
        public boolean getCqEvent(IbvCQ queue, int timeoutMillis) {
            synchronized (owner.nic) {
                if (events == 0) {
                    return false;
                }
                events--;
                if (events == 0) {
                    descriptor.clear();
                }
                ((Queue) queue).unacknowledged++;
                return true;
            }
        }

        @Override
        public int destroyCompChannel() {
            close();
            descriptor.close();
            owner.children.decrementAndGet();
            return 0;
        }
    }

    /** Takes as many completions as it was made for; one more, and it is lost. */
    static final class Queue extends Foreign.CompletionQueue {
        /** Queue pairs. */
        final AtomicInteger uses = new AtomicInteger();
        private final FakeContext owner;
        private final @Nullable Channel events;
        private final int capacity;
        private final Deque<Completion> completions = new ArrayDeque<>();
        private boolean isArmed;
        private boolean isOverrun;
        private int unacknowledged;

        Queue(long address, FakeContext owner, @Nullable Channel events, int capacity)
                throws IOException {
            super(address, owner, events);
            this.owner = owner;
            this.events = events;
            this.capacity = capacity;
            owner.children.incrementAndGet();
            synchronized (owner.nic) {
                owner.nic.queues.put(address, this);
            }
        }

        void add(Completion completion) {
            completions.add(completion);
            isOverrun |= completions.size() > capacity;
            if (isArmed && events != null) {
                isArmed = false;
                events.event();
            }
        }

        void forget(int queuePair) {
            completions.removeIf(completion -> completion.queuePair() == queuePair);
        }

        private int take(int count, long target) {
            if (isOverrun) {
                return -1;
            }
            int taken = Math.min(count, completions.size());
            MemorySegment array = Memory.view(target, taken * Layout.Wc.SIZE);
            for (long at = 0; at < array.byteSize(); at += Layout.Wc.SIZE) {
                Completion next = completions.remove();
                array.set(JAVA_LONG, at + Layout.Wc.WR_ID, next.id());
                array.set(JAVA_INT, at + Layout.Wc.STATUS, next.status());
                array.set(JAVA_INT, at + Layout.Wc.OPCODE, next.isWrite() ? 1 : 2);
                array.set(JAVA_INT, at + Layout.Wc.WC_FLAGS, 0);
                array.set(JAVA_INT, at + Layout.Wc.QP_NUM, next.queuePair());
                next.polled().run();
            }
            return taken;
        }

        @Override
        public int ackEvents(int acknowledged) {
            synchronized (owner.nic) {
                unacknowledged -= acknowledged;
                return 0;
            }
        }

        @Override
        public int destroyCQ() throws IOException {
            requireUnused("ibv_destroy_cq", uses);
            synchronized (owner.nic) {
                if (unacknowledged != 0) {
                    throw new IllegalStateException("would wait for ever for acknowledgements: "
                            + unacknowledged);
                }
                owner.nic.queues.remove(address);
            }
            close();
            owner.children.decrementAndGet();
            return 0;
        }
    }

    /** The number of what was made from it and not destroyed. */
    int children() {
        return children.get();
    }
}
