package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import io.railhead.os.Descriptors;
import io.railhead.os.PollSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * DiSNI's verbs over libibverbs, without the stateful calls that {@link VerbsExtensions} replaces.
 * Completion channels do not block: {@link #getCqEvent} waits in poll(2), and with timeout 0 not at
 * all. Every event that it returned must be acknowledged, in batches; otherwise destroying the
 * queue waits for ever.
 */
final class ForeignVerbs extends RdmaVerbs {
    private final LibIbverbs library;

    ForeignVerbs(LibIbverbs library) {
        this.library = library;
    }

    @Override
    public IbvPd allocPd(IbvContext context) throws IOException {
        long address = NativeLibrary.pointerOf("ibv_alloc_pd",
                state -> (long) library.allocPd.invokeExact(state, addressOf(context)));
        return new Foreign.ProtectionDomain(address, context);
    }

    @Override
    public int deallocPd(IbvPd domain) throws IOException {
        long address = addressOf(domain);
        domain.close();
        NativeLibrary.check("ibv_dealloc_pd",
                state -> (int) library.deallocPd.invokeExact(state, address));
        return 0;
    }

    @Override
    public IbvCompChannel createCompChannel(IbvContext context) throws IOException {
        long address = NativeLibrary.pointerOf("ibv_create_comp_channel",
                state -> (long) library.createCompChannel.invokeExact(state,
                        addressOf(context)));
        Foreign.CompletionChannel channel = new Foreign.CompletionChannel(address, context);
        Descriptors.setNonBlocking(channel.getFd());
        return channel;
    }

    @Override
    public int destroyCompChannel(IbvCompChannel channel) throws IOException {
        long address = addressOf(channel);
        channel.close();
        NativeLibrary.check("ibv_destroy_comp_channel",
                state -> (int) library.destroyCompChannel.invokeExact(state, address));
        return 0;
    }

    /** Creates a queue; without a channel it can only be polled. */
    @Override
    public IbvCQ createCQ(IbvContext context, @Nullable IbvCompChannel channel, int entries,
            int vector) throws IOException {
        long channelAddress = channel == null ? 0 : addressOf(channel);
        long address = NativeLibrary.pointerOf("ibv_create_cq",
                state -> (long) library.createCq.invokeExact(state, addressOf(context), entries,
                        0L, channelAddress, vector));
        return new Foreign.CompletionQueue(address, context, channel);
    }

    @Override
    public int destroyCQ(IbvCQ queue) throws IOException {
        long address = addressOf(queue);
        queue.close();
        NativeLibrary.check("ibv_destroy_cq",
                state -> (int) library.destroyCq.invokeExact(state, address));
        return 0;
    }

    /**
     * Takes an event of {@code queue}, which must be the only queue of its channel.
     *
     * @param timeoutMillis 0 for no wait, -1 for no limit
     * @return false if none came in time
     */
    @Override
    public boolean getCqEvent(IbvCompChannel compChannel, @Nullable IbvCQ queue,
            int timeoutMillis) throws IOException {
        Foreign.requireOpen(compChannel.isOpen());
        if (timeoutMillis != 0 && !awaitEvent(compChannel, timeoutMillis)) {
            return false;
        }
        int errno = ((Foreign.CompletionChannel) compChannel).takeEvent(library.getCqEvent);
        if (errno != 0 && errno != NativeLibrary.EAGAIN) {
            throw new VerbsException("ibv_get_cq_event", errno);
        }
        return errno == 0;
    }

    private static boolean awaitEvent(IbvCompChannel channel, int timeoutMillis) {
        try (PollSet set = new PollSet(channel.getFd())) {
            return set.await(timeoutMillis) > 0;
        }
    }

    @Override
    public int ackCqEvents(IbvCQ queue, int events) {
        long address = addressOf(queue);
        NativeLibrary.run(state -> {
            library.ackCqEvents.invokeExact(state, address, events);
        });
        return 0;
    }

    IbvMr register(IbvPd domain, long address, long bytes, int access) throws IOException {
        long registration = NativeLibrary.pointerOf("ibv_reg_mr",
                state -> (long) library.regMr.invokeExact(state, addressOf(domain), address,
                        bytes, access));
        return new Foreign.Registration(registration, domain.getContext(), address, bytes,
                access);
    }

    void deregister(IbvMr registration) throws IOException {
        Foreign.requireOpen(registration.isOpen());
        long address = ((Foreign.Registration) registration).address;
        NativeLibrary.check("ibv_dereg_mr",
                state -> (int) library.deregMr.invokeExact(state, address));
        registration.close();
    }

    @Override
    public SVCReqNotify reqNotifyCQ(IbvCQ queue, boolean solicitedOnly) {
        return new ForeignNotification(queue, solicitedOnly ? 1 : 0);
    }

    @Override
    public SVCRegMr regMr(IbvPd domain, ByteBuffer buffer, int access) {
        throw instead("VerbsExtensions.register");
    }

    @Override
    public SVCRegMr regMr(IbvPd domain, long address, int bytes, int access) {
        throw instead("VerbsExtensions.register");
    }

    @Override
    public SVCDeregMr deregMr(IbvMr registration) {
        throw instead("VerbsExtensions.deregister");
    }

    @Override
    public SVCPostSend postSend(IbvQP queuePair, List<IbvSendWR> requests,
            @Nullable List<IbvSendWR> refused) {
        throw instead("PreparedSends");
    }

    @Override
    public SVCPostRecv postRecv(IbvQP queuePair, List<IbvRecvWR> requests,
            @Nullable List<IbvRecvWR> refused) {
        throw instead("PreparedReceives");
    }

    @Override
    public SVCPollCq pollCQ(IbvCQ queue, IbvWC[] completions, int count) {
        throw instead("Completions");
    }

    /** Returns 0, for no on-demand paging: memory that Railhead registers is pinned. */
    @Override
    public int queryOdpSupport(IbvContext context) {
        return 0;
    }

    @Override
    public int expPrefetchMr(IbvMr registration, long address, int bytes) {
        throw new UnsupportedOperationException("on-demand paging is not supported");
    }

    /**
     * Refuses DiSNI's stateful calls: they cannot change their parameters, or have too small
     * lengths.
     */
    private static UnsupportedOperationException instead(String other) {
        return new UnsupportedOperationException("not supported; use " + other);
    }

    private static long addressOf(IbvContext context) {
        Foreign.requireOpen(context.isOpen());
        return ((Foreign.Context) context).address;
    }

    private static long addressOf(IbvPd domain) {
        Foreign.requireOpen(domain.isOpen());
        return ((Foreign.ProtectionDomain) domain).address;
    }

    private static long addressOf(IbvCompChannel channel) {
        Foreign.requireOpen(channel.isOpen());
        return ((Foreign.CompletionChannel) channel).address;
    }

    private static long addressOf(IbvCQ queue) {
        Foreign.requireOpen(queue.isOpen());
        return Foreign.completionQueue(queue).address;
    }
}
