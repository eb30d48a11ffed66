package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/**
 * The library's structures of initiators, targets and address handles, and the attributes of each
 * state change: the kernel accepts exactly these.
 */
final class DcStructures {
    static final int INITIATOR_INIT = QueuePairMask.STATE | QueuePairMask.PKEY_INDEX
            | QueuePairMask.PORT;
    static final int INITIATOR_RTR = QueuePairMask.STATE | QueuePairMask.PATH_MTU
            | QueuePairMask.AV;
    static final int INITIATOR_RTS = QueuePairMask.STATE | QueuePairMask.TIMEOUT
            | QueuePairMask.RETRY_CNT | QueuePairMask.RNR_RETRY | QueuePairMask.SQ_PSN
            | QueuePairMask.MAX_QP_RD_ATOMIC;
    static final int TARGET_INIT = INITIATOR_INIT | QueuePairMask.ACCESS_FLAGS;
    static final int TARGET_RTR = INITIATOR_RTR | QueuePairMask.MIN_RNR_TIMER;

    private static final int TARGET_ACCESS = IbvMr.IBV_ACCESS_LOCAL_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;
    private static final int MIN_MTU = 256;

    private DcStructures() {}

    /** Returns struct ibv_qp_init_attr_ex of an initiator. */
    static MemorySegment initiator(long domain, long queue, DcInitiator.Capacity capacity,
            Arena arena) {
        MemorySegment attr = queuePair(domain, queue, arena);
        MemorySegment cap = attr.asSlice(Layout.QpInitAttrEx.CAP);
        cap.set(JAVA_INT, Layout.QpCap.MAX_SEND_WR, capacity.requests());
        cap.set(JAVA_INT, Layout.QpCap.MAX_SEND_SGE, capacity.entries());
        attr.set(JAVA_INT, Layout.QpInitAttrEx.COMP_MASK, Layout.Constant.IBV_QP_INIT_ATTR_PD
                | Layout.Constant.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
        attr.set(JAVA_LONG, Layout.QpInitAttrEx.SEND_OPS_FLAGS,
                Layout.Constant.IBV_QP_EX_WITH_RDMA_WRITE
                        | Layout.Constant.IBV_QP_EX_WITH_RDMA_READ);
        return attr;
    }

    /** Returns struct ibv_qp_init_attr_ex of a target. */
    static MemorySegment target(long domain, long queue, long receives, Arena arena) {
        MemorySegment attr = queuePair(domain, queue, arena);
        attr.set(JAVA_LONG, Layout.QpInitAttrEx.SRQ, receives);
        attr.set(JAVA_INT, Layout.QpInitAttrEx.COMP_MASK, Layout.Constant.IBV_QP_INIT_ATTR_PD);
        return attr;
    }

    private static MemorySegment queuePair(long domain, long queue, Arena arena) {
        MemorySegment attr = arena.allocate(Layout.QpInitAttrEx.SIZE, Long.BYTES);
        attr.set(JAVA_LONG, Layout.QpInitAttrEx.SEND_CQ, queue);
        attr.set(JAVA_LONG, Layout.QpInitAttrEx.RECV_CQ, queue);
        attr.set(JAVA_INT, Layout.QpInitAttrEx.QP_TYPE, Layout.Constant.IBV_QPT_DRIVER);
        attr.set(JAVA_LONG, Layout.QpInitAttrEx.PD, domain);
        return attr;
    }

    /** Returns struct mlx5dv_qp_init_attr of an initiator. */
    static MemorySegment dci(Arena arena) {
        return dc(Layout.Constant.MLX5DV_DCTYPE_DCI, arena);
    }

    /** Returns struct mlx5dv_qp_init_attr of a target. */
    static MemorySegment dct(long key, Arena arena) {
        MemorySegment attr = dc(Layout.Constant.MLX5DV_DCTYPE_DCT, arena);
        attr.set(JAVA_LONG, Layout.Mlx5QpInitAttr.DCT_ACCESS_KEY, key);
        return attr;
    }

    private static MemorySegment dc(int type, Arena arena) {
        MemorySegment attr = arena.allocate(Layout.Mlx5QpInitAttr.SIZE, Long.BYTES);
        attr.set(JAVA_LONG, Layout.Mlx5QpInitAttr.COMP_MASK,
                Layout.Constant.MLX5DV_QP_INIT_ATTR_MASK_DC);
        attr.set(JAVA_INT, Layout.Mlx5QpInitAttr.DC_TYPE, type);
        return attr;
    }

    /**
     * Returns struct ibv_srq_init_attr of the smallest receive queue, which a target needs although
     * nothing is received.
     */
    static MemorySegment receives(Arena arena) {
        MemorySegment attr = arena.allocate(Layout.SrqInitAttr.SIZE, Long.BYTES);
        attr.set(JAVA_INT, Layout.SrqInitAttr.MAX_WR, 1);
        attr.set(JAVA_INT, Layout.SrqInitAttr.MAX_SGE, 1);
        return attr;
    }

    /** Returns struct ibv_ah_attr. */
    static MemorySegment addressVector(AddressVector to, Arena arena) {
        MemorySegment attr = arena.allocate(Layout.AhAttr.SIZE, Long.BYTES);
        attr.set(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), Layout.AhAttr.DGID, to.gidHigh());
        attr.set(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), Layout.AhAttr.DGID + Long.BYTES,
                to.gidLow());
        attr.set(JAVA_INT, Layout.AhAttr.FLOW_LABEL, to.flowLabel());
        attr.set(JAVA_BYTE, Layout.AhAttr.SGID_INDEX, (byte) to.gidIndex());
        attr.set(JAVA_BYTE, Layout.AhAttr.HOP_LIMIT, (byte) to.hopLimit());
        attr.set(JAVA_BYTE, Layout.AhAttr.TRAFFIC_CLASS, (byte) to.trafficClass());
        attr.set(JAVA_SHORT, Layout.AhAttr.DLID, (short) to.lid());
        attr.set(JAVA_BYTE, Layout.AhAttr.SL, (byte) to.serviceLevel());
        attr.set(JAVA_BYTE, Layout.AhAttr.IS_GLOBAL, flag(to.isGlobal()));
        attr.set(JAVA_BYTE, Layout.AhAttr.PORT_NUM, (byte) to.port());
        return attr;
    }

    /** Returns struct ibv_qp_attr with a state only. */
    static MemorySegment state(int state, Arena arena) {
        MemorySegment attr = arena.allocate(Layout.QpAttr.SIZE, Long.BYTES);
        attr.set(JAVA_INT, Layout.QpAttr.QP_STATE, state);
        return attr;
    }

    static MemorySegment initiatorInit(DcInitiator.Path path, Arena arena) {
        MemorySegment attr = state(IbvQP.IBV_QPS_INIT, arena);
        attr.set(JAVA_SHORT, Layout.QpAttr.PKEY_INDEX, (short) path.pkeyIndex());
        attr.set(JAVA_BYTE, Layout.QpAttr.PORT_NUM, (byte) path.port());
        return attr;
    }

    /**
     * Returns the attributes for RTR. The address vector has no destination: each request brings
     * its own.
     */
    static MemorySegment initiatorRtr(DcInitiator.Path path, Arena arena) {
        MemorySegment attr = state(IbvQP.IBV_QPS_RTR, arena);
        attr.set(JAVA_INT, Layout.QpAttr.PATH_MTU, mtu(path.mtuBytes()));
        MemorySegment route = attr.asSlice(Layout.QpAttr.AH_ATTR);
        route.set(JAVA_BYTE, Layout.AhAttr.SGID_INDEX, (byte) path.gidIndex());
        route.set(JAVA_BYTE, Layout.AhAttr.SL, (byte) path.serviceLevel());
        route.set(JAVA_BYTE, Layout.AhAttr.IS_GLOBAL, flag(path.isGlobal()));
        route.set(JAVA_BYTE, Layout.AhAttr.PORT_NUM, (byte) path.port());
        return attr;
    }

    static MemorySegment initiatorRts(DcInitiator.Path path, Arena arena) {
        MemorySegment attr = state(IbvQP.IBV_QPS_RTS, arena);
        attr.set(JAVA_BYTE, Layout.QpAttr.TIMEOUT, (byte) path.ackTimeout());
        attr.set(JAVA_BYTE, Layout.QpAttr.RETRY_CNT, (byte) path.retryCount());
        attr.set(JAVA_BYTE, Layout.QpAttr.RNR_RETRY, (byte) path.rnrRetry());
        attr.set(JAVA_BYTE, Layout.QpAttr.MAX_RD_ATOMIC, (byte) path.readDepth());
        return attr;
    }

    static MemorySegment targetInit(DcTarget.Attributes attributes, Arena arena) {
        MemorySegment attr = state(IbvQP.IBV_QPS_INIT, arena);
        attr.set(JAVA_INT, Layout.QpAttr.QP_ACCESS_FLAGS, TARGET_ACCESS);
        attr.set(JAVA_SHORT, Layout.QpAttr.PKEY_INDEX, (short) attributes.pkeyIndex());
        attr.set(JAVA_BYTE, Layout.QpAttr.PORT_NUM, (byte) attributes.port());
        return attr;
    }

    static MemorySegment targetRtr(DcTarget.Attributes attributes, Arena arena) {
        MemorySegment attr = state(IbvQP.IBV_QPS_RTR, arena);
        attr.set(JAVA_INT, Layout.QpAttr.PATH_MTU, mtu(attributes.mtuBytes()));
        attr.set(JAVA_BYTE, Layout.QpAttr.MIN_RNR_TIMER, (byte) attributes.minRnrTimer());
        MemorySegment route = attr.asSlice(Layout.QpAttr.AH_ATTR);
        route.set(JAVA_BYTE, Layout.AhAttr.SGID_INDEX, (byte) attributes.gidIndex());
        route.set(JAVA_BYTE, Layout.AhAttr.HOP_LIMIT, (byte) attributes.hopLimit());
        route.set(JAVA_BYTE, Layout.AhAttr.TRAFFIC_CLASS, (byte) attributes.trafficClass());
        route.set(JAVA_BYTE, Layout.AhAttr.IS_GLOBAL, flag(attributes.isGlobal()));
        route.set(JAVA_BYTE, Layout.AhAttr.PORT_NUM, (byte) attributes.port());
        return attr;
    }

    /** Returns enum ibv_mtu: 256 is 1, and each further value doubles. */
    private static int mtu(int bytes) {
        return Integer.numberOfTrailingZeros(bytes / MIN_MTU) + 1;
    }

    private static byte flag(boolean value) {
        return (byte) (value ? 1 : 0);
    }
}
