package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvAhAttr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.verbs.VerbsExtensions;
import java.io.IOException;

/**
 * Takes a queue pair that rdma_cm did not make from RESET to RTS: with what rdma_cm knows of the
 * connection, and what is configured in place of what rdma_cm would choose.
 */
final class QueuePairStates {
    private final VerbsExtensions verbs;
    private final QueuePairConfig config;

    QueuePairStates(VerbsExtensions verbs, QueuePairConfig config) {
        this.verbs = verbs;
        this.config = config;
    }

    /**
     * Receives may be posted from now on.
     *
     * @param access {@code IbvMr.IBV_ACCESS_REMOTE_*} that the peer has, where a registration has
     *            it too
     */
    void toInit(RdmaCmId id, IbvQP queuePair, int access) throws IOException {
        IbvQpAttr attributes = verbs.connectionAttributes(id, IbvQP.IBV_QPS_INIT);
        attributes.setQp_access_flags(access);
        verbs.modify(queuePair, attributes);
    }

    /** How the connection reaches its peer, once that has asked or answered. */
    IbvQpAttr route(RdmaCmId id) throws IOException {
        return verbs.connectionAttributes(id, IbvQP.IBV_QPS_RTR);
    }

    /**
     * The queue pair receives and may send.
     *
     * @param served READs of the peer at a time
     * @param asked READs of this side at a time
     */
    void toReady(RdmaCmId id, IbvQP queuePair, IbvQpAttr route, int served, int asked)
            throws IOException {
        route.setPath_mtu(Math.min(route.getPath_mtu(), config.pathMtuCode()));
        route.setMin_rnr_timer((byte) config.minRnrTimer());
        route.setMax_dest_rd_atomic((byte) served);
        mark(route.getAh_attr());
        verbs.modify(queuePair, route);
        IbvQpAttr sending = verbs.connectionAttributes(id, IbvQP.IBV_QPS_RTS);
        sending.setTimeout((byte) config.ackTimeout());
        sending.setRetry_cnt((byte) config.retryCount());
        sending.setRnr_retry((byte) config.rnrRetry());
        sending.setMax_rd_atomic((byte) asked);
        verbs.modify(queuePair, sending);
    }

    /** Of the traffic class rdma_cm knows only what an id that connects was told. */
    private void mark(IbvAhAttr handle) {
        config.serviceLevel().ifPresent(level -> handle.setSl((byte) level));
        config.trafficClass()
                .ifPresent(trafficClass -> handle.getGrh().setTraffic_class((byte) trafficClass));
    }
}
