package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvAhAttr;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvGlobalRoute;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPCap;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * This provider's implementations of DiSNI's objects: each has the address of the library's
 * structure, and the fields that DiSNI's own type lacks. The cast refuses another provider's
 * object. Classes that are not final have fakes in tests, without a library's structures.
 */
final class Foreign {
    private Foreign() {}

    static QueuePair queuePair(IbvQP queuePair) {
        return (QueuePair) queuePair;
    }

    static CompletionQueue completionQueue(IbvCQ queue) {
        return (CompletionQueue) queue;
    }

    /** struct ibv_context, rdma_cm's own for its device. */
    static class Context extends IbvContext {
        final long address;
        /** True if librdmacm counts it as in use by this object; false if an id lent it. */
        final boolean isCounted;

        Context(long address, boolean isCounted) throws IOException {
            super(Memory.getInt(address + Layout.Context.CMD_FD),
                    Memory.getInt(address + Layout.Context.NUM_COMP_VECTORS));
            this.address = address;
            this.isCounted = isCounted;
        }

        long device() {
            return Memory.getLong(address + Layout.Context.DEVICE);
        }

        int asyncDescriptor() {
            return Memory.getInt(address + Layout.Context.ASYNC_FD);
        }
    }

    static class ProtectionDomain extends IbvPd {
        final long address;

        ProtectionDomain(long address, IbvContext context) throws IOException {
            super(context);
            this.address = address;
        }
    }

    static final class Registration extends IbvMr {
        final long address;

        Registration(long address, IbvContext context, long memory, long bytes, int access)
                throws IOException {
            super(context, memory, (int) Math.min(bytes, Integer.MAX_VALUE), access,
                    Memory.getInt(address + Layout.Mr.LKEY),
                    Memory.getInt(address + Layout.Mr.RKEY),
                    Memory.getInt(address + Layout.Mr.HANDLE));
            this.address = address;
        }
    }

    /**
     * An event channel. One thread at a time takes its events, which are read into memory allocated
     * once.
     */
    static class CompletionChannel extends IbvCompChannel {
        final long address;
        private final MemorySegment state = NativeLibrary.newState();
        private final MemorySegment queue = Arena.ofAuto().allocate(JAVA_LONG);
        private final MemorySegment queueContext = Arena.ofAuto().allocate(JAVA_LONG);

        CompletionChannel(long address, IbvContext context) throws IOException {
            super(Memory.getInt(address + Layout.CompChannel.FD), context);
            this.address = address;
        }

        /** Takes the next event by ibv_get_cq_event; returns 0 or its errno. Allocates nothing. */
        int takeEvent(MethodHandle getCqEvent) {
            try {
                int result = (int) getCqEvent.invokeExact(state, address, queue, queueContext);
                return result == 0 ? 0 : NativeLibrary.errno(state);
            } catch (Throwable e) {
                throw thrownBy(e);
            }
        }
    }

    static class CompletionQueue extends IbvCQ {
        final long address;
        private final MemorySegment poll;
        private final MemorySegment notify;

        CompletionQueue(long address, IbvContext context, @Nullable IbvCompChannel channel)
                throws IOException {
            super(context, channel, 0);
            this.address = address;
            this.cqe = Memory.getInt(address + Layout.Cq.CQE);
            long library = Memory.getLong(address + Layout.Cq.CONTEXT);
            poll = NativeLibrary
                    .functionAt(Memory.getLong(library + Layout.Context.OPS_POLL_CQ));
            notify = NativeLibrary
                    .functionAt(Memory.getLong(library + Layout.Context.OPS_REQ_NOTIFY_CQ));
        }

        /**
         * Polls up to {@code count} completions into an array of struct ibv_wc; negative on
         * failure.
         */
        int poll(int count, long completions) {
            requireOpen(isOpen);
            try {
                return (int) LibIbverbs.POLL_CQ.invokeExact(poll, address, count, completions);
            } catch (Throwable e) {
                throw thrownBy(e);
            }
        }

        /** Arms the queue; returns the errno, 0 on success. */
        int requestNotification(int solicitedOnly) {
            requireOpen(isOpen);
            try {
                return (int) LibIbverbs.REQ_NOTIFY_CQ.invokeExact(notify, address, solicitedOnly);
            } catch (Throwable e) {
                throw thrownBy(e);
            }
        }
    }

    static final class QueuePair extends IbvQP {
        final long address;
        private final MemorySegment postSend;
        private final MemorySegment postReceive;

        QueuePair(long address, IbvPd domain, IbvCQ sends, IbvCQ receives, int type)
                throws IOException {
            super(Memory.getInt(address + Layout.Qp.QP_NUM));
            this.address = address;
            this.handle = Memory.getInt(address + Layout.Qp.HANDLE);
            this.context = domain.getContext();
            this.pd = domain;
            this.send_cq = sends;
            this.recv_cq = receives;
            this.qp_type = type;
            long library = Memory.getLong(address + Layout.Qp.CONTEXT);
            postSend = NativeLibrary
                    .functionAt(Memory.getLong(library + Layout.Context.OPS_POST_SEND));
            postReceive = NativeLibrary
                    .functionAt(Memory.getLong(library + Layout.Context.OPS_POST_RECV));
        }

        /**
         * Posts requests; returns the errno, 0 on success. After a failure the first refused
         * request is stored at bad.
         */
        int postSend(long requests, long bad) {
            return post(postSend, requests, bad);
        }

        int postReceive(long requests, long bad) {
            return post(postReceive, requests, bad);
        }

        private int post(MemorySegment function, long requests, long bad) {
            requireOpen(isOpen);
            try {
                return (int) LibIbverbs.POST.invokeExact(function, address, requests, bad);
            } catch (Throwable e) {
                throw thrownBy(e);
            }
        }
    }

    static final class EventChannel extends RdmaEventChannel {
        final long address;
        /** Ids by the address of their structure, so that an event finds its object. */
        final Map<Long, CmId> ids = new ConcurrentHashMap<>();

        EventChannel(long address) throws IOException {
            super(Memory.getInt(address + Layout.EventChannel.FD));
            this.address = address;
        }
    }

    static final class CmId extends RdmaCmId {
        final long address;
        private @Nullable Context context;

        CmId(long address, EventChannel channel) throws IOException {
            super(channel, null);
            this.address = address;
        }

        EventChannel channel() {
            return (EventChannel) cmChannel;
        }

        /** Returns null until the id is bound to a device, when an address is bound or resolved. */
        @Override
        public synchronized @Nullable IbvContext getVerbs() throws IOException {
            long library = Memory.getLong(address + Layout.CmId.VERBS);
            if (library == 0) {
                return null;
            }
            if (context == null || context.address != library) {
                context = new Context(library, false);
            }
            return context;
        }

        @Override
        public byte getPort_num() {
            return Memory.getByte(address + Layout.CmId.PORT_NUM);
        }

        void queuePair(QueuePair created) {
            setQp(created);
        }
    }

    /** An event whose structure was copied and acknowledged when it was read. */
    static final class CmEvent extends RdmaCmEvent {
        final ConnectionParameters parameters;

        CmEvent(int event, int status, @Nullable CmId listener, CmId id,
                ConnectionParameters parameters) throws IOException {
            super(event, listener, id);
            this.status = status;
            this.parameters = parameters;
            this.conn = new ConnParam(parameters);
        }
    }

    static final class ConnParam extends RdmaConnParam {
        final ConnectionParameters parameters;

        ConnParam(ConnectionParameters parameters) {
            this.parameters = parameters;
            this.private_data_len = (byte) parameters.privateData().remaining();
            this.responder_resources = (byte) parameters.responderResources();
            this.initiator_depth = (byte) parameters.initiatorDepth();
            this.retry_count = (byte) parameters.retryCount();
            this.rnr_retry_count = (byte) parameters.rnrRetryCount();
            this.qp_num = parameters.queuePair();
        }
    }

    static final class QueuePairAttributes extends IbvQpAttr {
        QueuePairAttributes() {
            super(new AddressHandle(), new AddressHandle(), new Capacity());
        }
    }

    private static final class AddressHandle extends IbvAhAttr {
        AddressHandle() {
            super(new Route());
        }
    }

    private static final class Route extends IbvGlobalRoute {}

    private static final class Capacity extends IbvQPCap {}

    /** Throws if the object's structure is gone: then it must not be read or used in a call. */
    static void requireOpen(boolean isOpen) {
        if (!isOpen) {
            throw new IllegalStateException("already destroyed");
        }
    }

    static RuntimeException thrownBy(Throwable e) {
        return switch (e) {
            case RuntimeException unchecked -> unchecked;
            case Error error -> throw error;
            default -> throw new AssertionError("a downcall threw a checked exception", e);
        };
    }
}
