package io.railhead.os.adapter;

import com.ibm.disni.verbs.IbvAhAttr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.verbs.QueuePairMask;
import io.railhead.os.verbs.VerbsExtensions;
import java.io.IOException;

/**
 * Moves a queue pair that rdma_cm did not create from RESET to RTS. The attributes come from
 * rdma_cm's connection or from a {@link PairedRoute}; configuration overrides rdma_cm's choices.
 */
public final class QueuePairStates {
    /** Clients of both dialects use this value too; a rack has few hops. */
    private static final int HOP_LIMIT = 64;

    private final VerbsExtensions verbs;
    private final QueuePairConfig config;

    public QueuePairStates(VerbsExtensions verbs, QueuePairConfig config) {
        this.verbs = verbs;
        this.config = config;
    }

    /**
     * Moves to INIT, in which receives may be posted.
     *
     * @param access {@code IbvMr.IBV_ACCESS_REMOTE_*} rights of the peer, where a registration
     *            grants them too
     */
    public void toInit(RdmaCmId id, IbvQP queuePair, int access) throws IOException {
        IbvQpAttr attributes = verbs.connectionAttributes(id, IbvQP.IBV_QPS_INIT);
        attributes.setQp_access_flags(access);
        verbs.modify(queuePair, attributes);
    }

    /** Returns the route to the peer, once the peer has requested or accepted the connection. */
    public IbvQpAttr route(RdmaCmId id) throws IOException {
        return verbs.connectionAttributes(id, IbvQP.IBV_QPS_RTR);
    }

    /**
     * Moves to RTS, in which the queue pair receives and sends.
     *
     * @param served the most outstanding READs of the peer
     * @param asked the most outstanding READs of this side
     */
    public void toReady(RdmaCmId id, IbvQP queuePair, IbvQpAttr route, int served, int asked)
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

    /** Moves to INIT a queue pair that rdma_cm does not manage. */
    public void toInit(IbvQP queuePair, int port, int access) throws IOException {
        IbvQpAttr attributes = verbs.queuePairAttributes();
        attributes.setQp_state(IbvQP.IBV_QPS_INIT);
        attributes.setPkey_index((short) 0);
        attributes.setPort_num((byte) port);
        attributes.setQp_access_flags(access);
        attributes.setQpAttrMask(QueuePairMask.STATE | QueuePairMask.PKEY_INDEX
                | QueuePairMask.PORT | QueuePairMask.ACCESS_FLAGS);
        verbs.modify(queuePair, attributes);
    }

    /** Moves to RTS a queue pair that rdma_cm does not manage. */
    public void toReady(IbvQP queuePair, PairedRoute route, int served, int asked)
            throws IOException {
        verbs.modify(queuePair, receiving(route, served));
        IbvQpAttr sending = verbs.queuePairAttributes();
        sending.setQp_state(IbvQP.IBV_QPS_RTS);
        sending.setTimeout((byte) config.ackTimeout());
        sending.setRetry_cnt((byte) config.retryCount());
        sending.setRnr_retry((byte) config.rnrRetry());
        sending.setSq_psn(route.own().packetSequence());
        sending.setMax_rd_atomic((byte) asked);
        sending.setQpAttrMask(QueuePairMask.STATE | QueuePairMask.TIMEOUT
                | QueuePairMask.RETRY_CNT | QueuePairMask.RNR_RETRY | QueuePairMask.SQ_PSN
                | QueuePairMask.MAX_QP_RD_ATOMIC);
        verbs.modify(queuePair, sending);
    }

    private IbvQpAttr receiving(PairedRoute route, int served) {
        IbvQpAttr attributes = verbs.queuePairAttributes();
        attributes.setQp_state(IbvQP.IBV_QPS_RTR);
        attributes.setPath_mtu(Math.min(route.pathMtu(), config.pathMtuCode()));
        attributes.setDest_qp_num(route.peer().number());
        attributes.setRq_psn(route.peer().packetSequence());
        attributes.setMin_rnr_timer((byte) config.minRnrTimer());
        attributes.setMax_dest_rd_atomic((byte) served);
        IbvAhAttr handle = attributes.getAh_attr();
        handle.setIs_global((byte) 1);
        handle.setPort_num((byte) route.port());
        handle.setDlid((short) route.peer().lid());
        handle.getGrh().setDgid(GidBytes.of(route.peer().gid()));
        handle.getGrh().setSgid_index((byte) route.gidIndex());
        handle.getGrh().setHop_limit((byte) HOP_LIMIT);
        mark(handle);
        attributes.setQpAttrMask(QueuePairMask.STATE | QueuePairMask.AV | QueuePairMask.PATH_MTU
                | QueuePairMask.DEST_QPN | QueuePairMask.RQ_PSN
                | QueuePairMask.MAX_DEST_RD_ATOMIC | QueuePairMask.MIN_RNR_TIMER);
        return attributes;
    }

    /**
     * Sets the configured service level and traffic class: rdma_cm knows the class only of ids that
     * connect.
     */
    private void mark(IbvAhAttr handle) {
        config.serviceLevel().ifPresent(level -> handle.setSl((byte) level));
        config.trafficClass()
                .ifPresent(trafficClass -> handle.getGrh().setTraffic_class((byte) trafficClass));
    }
}
