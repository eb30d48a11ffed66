package io.railhead.os.verbs;

/**
 * Sizes and offsets, in bytes, and constants of rdma-core's structures. They are the same on x86_64
 * and aarch64, except for structures that end in a lock of the C library. Names are those of the
 * headers ({@code infiniband/verbs.h}, {@code infiniband/mlx5dv.h}, {@code rdma/rdma_cma.h}), and a
 * test compares each with the installed headers.
 */
final class Layout {
    private Layout() {}

    /** struct ibv_context; functions that the header inlines are pointers in {@code ops}. */
    static final class Context {
        static final long DEVICE = 0;
        static final long OPS_POLL_CQ = 96;
        static final long OPS_REQ_NOTIFY_CQ = 104;
        static final long OPS_POST_SEND = 208;
        static final long OPS_POST_RECV = 216;
        static final long CMD_FD = 264;
        static final long ASYNC_FD = 268;
        static final long NUM_COMP_VECTORS = 272;

        private Context() {}
    }

    /** struct ibv_device. */
    static final class Device {
        static final long NODE_TYPE = 16;
        static final long TRANSPORT_TYPE = 20;
        static final long DEV_NAME = 88;

        private Device() {}
    }

    /** struct ibv_device_attr. */
    static final class DeviceAttr {
        static final long SIZE = 232;
        static final long MAX_MR_SIZE = 80;
        static final long MAX_QP = 108;
        static final long MAX_QP_WR = 112;
        static final long MAX_SGE = 120;
        static final long MAX_SGE_RD = 124;
        static final long MAX_CQ = 128;
        static final long MAX_CQE = 132;
        static final long MAX_MR = 136;
        static final long MAX_QP_RD_ATOM = 144;
        static final long MAX_QP_INIT_RD_ATOM = 156;

        private DeviceAttr() {}
    }

    /** struct ibv_port_attr. */
    static final class PortAttr {
        static final long SIZE = 52;
        static final long STATE = 0;
        static final long ACTIVE_MTU = 8;
        static final long GID_TBL_LEN = 12;
        static final long LID = 34;
        static final long LINK_LAYER = 46;

        private PortAttr() {}
    }

    /** struct ibv_mr. */
    static final class Mr {
        static final long HANDLE = 32;
        static final long LKEY = 36;
        static final long RKEY = 40;

        private Mr() {}
    }

    /** struct ibv_comp_channel. */
    static final class CompChannel {
        static final long FD = 8;

        private CompChannel() {}
    }

    /** struct ibv_cq. */
    static final class Cq {
        static final long CONTEXT = 0;
        static final long CQE = 28;

        private Cq() {}
    }

    /** struct ibv_qp. */
    static final class Qp {
        static final long CONTEXT = 0;
        static final long HANDLE = 48;
        static final long QP_NUM = 52;

        private Qp() {}

        /**
         * Returns its size, which depends on that of the GNU C library's pthread_mutex_t.
         *
         * @param machine the value of the system property os.arch
         */
        static long size(String machine) {
            return machine.equals("aarch64") ? 168 : 160;
        }
    }

    /** struct ibv_qp_cap, a part of other structures. */
    static final class QpCap {
        static final long MAX_SEND_WR = 0;
        static final long MAX_RECV_WR = 4;
        static final long MAX_SEND_SGE = 8;
        static final long MAX_RECV_SGE = 12;
        static final long MAX_INLINE_DATA = 16;

        private QpCap() {}
    }

    /** struct ibv_qp_init_attr. */
    static final class QpInitAttr {
        static final long SIZE = 64;
        static final long SEND_CQ = 8;
        static final long RECV_CQ = 16;
        static final long CAP = 32;
        static final long QP_TYPE = 52;
        static final long SQ_SIG_ALL = 56;

        private QpInitAttr() {}
    }

    /** struct ibv_qp_init_attr_ex. */
    static final class QpInitAttrEx {
        static final long SIZE = 136;
        static final long SEND_CQ = 8;
        static final long RECV_CQ = 16;
        static final long SRQ = 24;
        static final long CAP = 32;
        static final long QP_TYPE = 52;
        static final long COMP_MASK = 60;
        static final long PD = 64;
        static final long SEND_OPS_FLAGS = 128;

        private QpInitAttrEx() {}
    }

    /** struct mlx5dv_qp_init_attr. */
    static final class Mlx5QpInitAttr {
        static final long SIZE = 40;
        static final long COMP_MASK = 0;
        static final long DC_TYPE = 16;
        static final long DCT_ACCESS_KEY = 24;

        private Mlx5QpInitAttr() {}
    }

    /**
     * struct ibv_qp_ex, which begins with struct ibv_qp: offsets count from the end of that. Newer
     * headers may add fields at its end.
     */
    static final class QpEx {
        static final long WR_ID = 8;
        static final long WR_FLAGS = 16;
        static final long WR_RDMA_READ = 56;
        static final long WR_RDMA_WRITE = 64;
        static final long WR_SET_SGE = 144;
        static final long WR_SET_SGE_LIST = 152;
        static final long WR_START = 160;
        static final long WR_COMPLETE = 168;
        static final long WR_ABORT = 176;

        private QpEx() {}
    }

    /** struct mlx5dv_qp_ex; newer headers may add fields at its end. */
    static final class Mlx5QpEx {
        static final long WR_SET_DC_ADDR = 8;

        private Mlx5QpEx() {}
    }

    /** struct ibv_srq_init_attr. */
    static final class SrqInitAttr {
        static final long SIZE = 24;
        static final long MAX_WR = 8;
        static final long MAX_SGE = 12;

        private SrqInitAttr() {}
    }

    /** struct ibv_qp_attr. */
    static final class QpAttr {
        static final long SIZE = 144;
        static final long QP_STATE = 0;
        static final long CUR_QP_STATE = 4;
        static final long PATH_MTU = 8;
        static final long PATH_MIG_STATE = 12;
        static final long QKEY = 16;
        static final long RQ_PSN = 20;
        static final long SQ_PSN = 24;
        static final long DEST_QP_NUM = 28;
        static final long QP_ACCESS_FLAGS = 32;
        static final long AH_ATTR = 56;
        static final long PKEY_INDEX = 120;
        static final long MAX_RD_ATOMIC = 126;
        static final long MAX_DEST_RD_ATOMIC = 127;
        static final long MIN_RNR_TIMER = 128;
        static final long PORT_NUM = 129;
        static final long TIMEOUT = 130;
        static final long RETRY_CNT = 131;
        static final long RNR_RETRY = 132;

        private QpAttr() {}
    }

    /** struct ibv_ah_attr, which begins with struct ibv_global_route. */
    static final class AhAttr {
        static final long SIZE = 32;
        static final long DGID = 0;
        static final long FLOW_LABEL = 16;
        static final long SGID_INDEX = 20;
        static final long HOP_LIMIT = 21;
        static final long TRAFFIC_CLASS = 22;
        static final long DLID = 24;
        static final long SL = 26;
        static final long SRC_PATH_BITS = 27;
        static final long STATIC_RATE = 28;
        static final long IS_GLOBAL = 29;
        static final long PORT_NUM = 30;

        private AhAttr() {}
    }

    /** struct ibv_sge. */
    static final class Sge {
        static final long SIZE = 16;
        static final long ADDR = 0;
        static final long LENGTH = 8;
        static final long LKEY = 12;

        private Sge() {}
    }

    /** struct ibv_send_wr. */
    static final class SendWr {
        static final long SIZE = 128;
        static final long WR_ID = 0;
        static final long NEXT = 8;
        static final long SG_LIST = 16;
        static final long NUM_SGE = 24;
        static final long OPCODE = 28;
        static final long SEND_FLAGS = 32;
        static final long IMM_DATA = 36;
        static final long REMOTE_ADDR = 40;
        static final long RKEY = 48;

        private SendWr() {}
    }

    /** struct ibv_recv_wr. */
    static final class RecvWr {
        static final long SIZE = 32;
        static final long WR_ID = 0;
        static final long NEXT = 8;
        static final long SG_LIST = 16;
        static final long NUM_SGE = 24;

        private RecvWr() {}
    }

    /** struct ibv_wc. */
    static final class Wc {
        static final long SIZE = 48;
        static final long WR_ID = 0;
        static final long STATUS = 8;
        static final long OPCODE = 12;
        static final long VENDOR_ERR = 16;
        static final long BYTE_LEN = 20;
        static final long IMM_DATA = 24;
        static final long QP_NUM = 28;
        static final long SRC_QP = 32;
        static final long WC_FLAGS = 36;
        static final long PKEY_INDEX = 40;
        static final long SLID = 42;
        static final long SL = 44;
        static final long DLID_PATH_BITS = 45;

        private Wc() {}
    }

    /** struct ibv_async_event. */
    static final class AsyncEvent {
        static final long SIZE = 16;
        static final long ELEMENT = 0;
        static final long EVENT_TYPE = 8;

        private AsyncEvent() {}
    }

    /** struct rdma_event_channel. */
    static final class EventChannel {
        static final long FD = 0;

        private EventChannel() {}
    }

    /** struct rdma_cm_id. */
    static final class CmId {
        static final long VERBS = 0;
        static final long QP = 24;
        static final long SRC_ADDR = 32;
        static final long DST_ADDR = 160;
        static final long PORT_NUM = 348;

        private CmId() {}
    }

    /** struct rdma_cm_event; CONN is its struct rdma_conn_param. */
    static final class CmEvent {
        static final long ID = 0;
        static final long LISTEN_ID = 8;
        static final long EVENT = 16;
        static final long STATUS = 20;
        static final long CONN = 24;

        private CmEvent() {}
    }

    /** struct rdma_conn_param. */
    static final class ConnParam {
        static final long SIZE = 24;
        static final long PRIVATE_DATA = 0;
        static final long PRIVATE_DATA_LEN = 8;
        static final long RESPONDER_RESOURCES = 9;
        static final long INITIATOR_DEPTH = 10;
        static final long FLOW_CONTROL = 11;
        static final long RETRY_COUNT = 12;
        static final long RNR_RETRY_COUNT = 13;
        static final long QP_NUM = 16;

        private ConnParam() {}
    }

    /** struct sockaddr_in and sockaddr_in6. */
    static final class SockAddr {
        static final short AF_INET = 2;
        static final short AF_INET6 = 10;
        static final long SIZE = 28;
        static final long FAMILY = 0;
        static final long PORT = 2;
        static final long IPV4 = 4;
        static final long IPV6 = 8;
        static final long IPV6_SCOPE = 24;

        private SockAddr() {}
    }

    /** Enumerators and macros. */
    static final class Constant {
        static final int IBV_TRANSPORT_IWARP = 1;
        static final int IBV_NODE_RNIC = 4;
        static final int IBV_QPT_DRIVER = 255;
        static final int IBV_QP_INIT_ATTR_PD = 1;
        static final int IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = 64;
        static final int IBV_QP_EX_WITH_RDMA_WRITE = 1;
        static final int IBV_QP_EX_WITH_RDMA_READ = 16;
        static final int MLX5DV_QP_INIT_ATTR_MASK_DC = 2;
        static final int MLX5DV_DCTYPE_DCT = 1;
        static final int MLX5DV_DCTYPE_DCI = 2;
        static final int RDMA_CM_EVENT_CONNECT_REQUEST = 4;
        static final int RDMA_OPTION_ID = 0;
        static final int RDMA_OPTION_ID_TOS = 0;
        static final int RDMA_OPTION_ID_REUSEADDR = 1;
        static final int RDMA_OPTION_ID_ACK_TIMEOUT = 3;

        private Constant() {}
    }
}
