package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.MessageMemory;
import io.railhead.os.adapter.QueuePairStates;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.rdma.FabricCounts;
import io.railhead.rdma.QueuePairState;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the gateway's queue pair connections, ready to accept with. A failure frees everything
 * that was taken, the queue pair first. If the queue pair cannot be destroyed, its memory and its
 * room are kept.
 */
final class ConnectionOpening {
    private static final Logger log = LoggerFactory.getLogger(ConnectionOpening.class);
    private static final int INLINE_BYTES = 256;
    /** Peers have no right to the gateway's memory. */
    private static final int NO_REMOTE_ACCESS = 0;
    private static final int NO_READS = 0;

    /** A paired queue pair has no messages, and needs no memory for them. */
    static final int NO_BUFFERS = 0;

    private final QueuePairStates states;
    private final FabricCounts counts;
    private final int receives;
    private final int buffers;

    /**
     * @param counts counts queue pairs that are kept for good
     * @param receives the receives that are posted on each connection at all times
     * @param buffers message buffers of each connection; {@link #NO_BUFFERS} for none
     */
    ConnectionOpening(QueuePairStates states, FabricCounts counts, int receives, int buffers) {
        this.states = states;
        this.counts = counts;
        this.receives = receives;
        this.buffers = buffers;
    }

    /**
     * Returns a connection with posted receives that may send; null if the poller has no room.
     *
     * @param route the route to the peer
     * @param reads the most outstanding READs
     */
    @Nullable
    QueuePairConnection tryOpen(PollerGroup pollerGroup, RdmaCmId cm, IbvQpAttr route, int reads)
            throws IOException {
        return tryOpen(pollerGroup, cm, pollerGroup.adapter().domain(), new Steps() {
            @Override
            public void toInit(IbvQP queuePair) throws IOException {
                states.toInit(cm, queuePair, NO_REMOTE_ACCESS);
            }

            @Override
            public void toReady(IbvQP queuePair) throws IOException {
                states.toReady(cm, queuePair, route, NO_READS, reads);
            }
        });
    }

    /** The steps of a queue pair from RESET to RTS. */
    interface Steps {

        void toInit(IbvQP queuePair) throws IOException;

        void toReady(IbvQP queuePair) throws IOException;
    }

    /**
     * Returns a connection in another protection domain.
     *
     * @param cm null if rdma_cm does not manage the queue pair
     */
    @Nullable
    QueuePairConnection tryOpen(PollerGroup pollerGroup, @Nullable RdmaCmId cm, IbvPd domain,
            Steps steps) throws IOException {
        int id = pollerGroup.tryReserve(receives);
        if (id < 0) {
            return null;
        }
        MessageMemory memory;
        try {
            memory = buffers == NO_BUFFERS
                    ? MessageMemory.bodiless(receives + 1)
                    : pollerGroup.adapter().takeMessages(buffers, MessageHeader.MAX_MESSAGE_BYTES);
        } catch (IOException | RuntimeException | Error e) {
            pollerGroup.leave(id, receives);
            throw e;
        }
        IbvQPInitAttr attributes = attributes(pollerGroup);
        IbvQP queuePair;
        try {
            queuePair = create(pollerGroup.adapter(), domain, attributes);
        } catch (IOException | RuntimeException | Error e) {
            pollerGroup.adapter().giveBack(memory);
            pollerGroup.leave(id, receives);
            throw e;
        }
        try {
            QueuePairConnection queuePairConnection = new QueuePairConnection(pollerGroup, id, cm,
                    queuePair, attributes.cap().getMax_inline_data(),
                    receives, memory);
            steps.toInit(queuePair);
            queuePairConnection.postReceives();
            steps.toReady(queuePair);
            return queuePairConnection;
        } catch (IOException | RuntimeException | Error e) {
            if (pollerGroup.adapter().tryDestroy(queuePair)) {
                pollerGroup.adapter().giveBack(memory);
                pollerGroup.leave(id, receives);
            } else {
                counts.entered(QueuePairState.KEPT);
            }
            throw e;
        }
    }

    private IbvQPInitAttr attributes(PollerGroup pollerGroup) {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(pollerGroup.queue());
        attributes.setRecv_cq(pollerGroup.queue());
        attributes.cap().setMax_send_wr(pollerGroup.config().sendDepth());
        attributes.cap().setMax_recv_wr(receives);
        attributes.cap()
                .setMax_send_sge(
                        WorkRequestBatch.entries(pollerGroup.adapter(), pollerGroup.config()));
        attributes.cap().setMax_recv_sge(1);
        attributes.cap().setMax_inline_data(INLINE_BYTES);
        return attributes;
    }

    private static IbvQP create(Adapter adapter, IbvPd domain, IbvQPInitAttr attributes)
            throws IOException {
        try {
            return adapter.verbs().createQueuePair(domain, attributes);
        } catch (IOException e) {
            log.debug("no queue pair with inlined messages on {}", adapter.device(), e);
            attributes.cap().setMax_inline_data(0);
            return adapter.verbs().createQueuePair(domain, attributes);
        }
    }
}
