package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import com.ibm.disni.verbs.IbvAhAttr;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvQPCap;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvQpAttr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Converts DiSNI's attributes of a queue pair to the library's structures and back. */
final class QueuePairStructures {
    private static final int GID_BYTES = 16;

    private QueuePairStructures() {}

    /**
     * Returns struct ibv_qp_init_attr. A scatter list without a length gets one entry, as in
     * DiSNI's own provider.
     */
    static MemorySegment initAttr(IbvQPInitAttr attributes, Arena arena) {
        MemorySegment structure = arena.allocate(Layout.QpInitAttr.SIZE, Long.BYTES);
        structure.set(JAVA_LONG, Layout.QpInitAttr.SEND_CQ, addressOf(attributes.getSend_cq()));
        structure.set(JAVA_LONG, Layout.QpInitAttr.RECV_CQ, addressOf(attributes.getRecv_cq()));
        structure.set(JAVA_INT, Layout.QpInitAttr.QP_TYPE, attributes.getQp_type());
        structure.set(JAVA_INT, Layout.QpInitAttr.SQ_SIG_ALL, attributes.getSq_sig_all());
        MemorySegment capacity = structure.asSlice(Layout.QpInitAttr.CAP);
        IbvQPCap asked = attributes.cap();
        capacity.set(JAVA_INT, Layout.QpCap.MAX_SEND_WR, asked.getMax_send_wr());
        capacity.set(JAVA_INT, Layout.QpCap.MAX_RECV_WR, asked.getMax_recv_wr());
        capacity.set(JAVA_INT, Layout.QpCap.MAX_SEND_SGE, Math.max(1, asked.getMax_send_sge()));
        capacity.set(JAVA_INT, Layout.QpCap.MAX_RECV_SGE, Math.max(1, asked.getMax_recv_sge()));
        capacity.set(JAVA_INT, Layout.QpCap.MAX_INLINE_DATA, asked.getMax_inline_data());
        return structure;
    }

    /** Reads the capacity that the device granted, which may exceed the request. */
    static void readCapacity(MemorySegment initAttr, IbvQPInitAttr attributes) {
        MemorySegment capacity = initAttr.asSlice(Layout.QpInitAttr.CAP);
        IbvQPCap granted = attributes.cap();
        granted.setMax_send_wr(capacity.get(JAVA_INT, Layout.QpCap.MAX_SEND_WR));
        granted.setMax_recv_wr(capacity.get(JAVA_INT, Layout.QpCap.MAX_RECV_WR));
        granted.setMax_send_sge(capacity.get(JAVA_INT, Layout.QpCap.MAX_SEND_SGE));
        granted.setMax_recv_sge(capacity.get(JAVA_INT, Layout.QpCap.MAX_RECV_SGE));
        granted.setMax_inline_data(capacity.get(JAVA_INT, Layout.QpCap.MAX_INLINE_DATA));
    }

    static MemorySegment attr(IbvQpAttr attributes, Arena arena) {
        MemorySegment structure = arena.allocate(Layout.QpAttr.SIZE, Long.BYTES);
        structure.set(JAVA_INT, Layout.QpAttr.QP_STATE, attributes.getQp_state());
        structure.set(JAVA_INT, Layout.QpAttr.CUR_QP_STATE, attributes.getCur_qp_state());
        structure.set(JAVA_INT, Layout.QpAttr.PATH_MTU, attributes.getPath_mtu());
        structure.set(JAVA_INT, Layout.QpAttr.PATH_MIG_STATE, attributes.getPath_mig_state());
        structure.set(JAVA_INT, Layout.QpAttr.QKEY, attributes.getQkey());
        structure.set(JAVA_INT, Layout.QpAttr.RQ_PSN, attributes.getRq_psn());
        structure.set(JAVA_INT, Layout.QpAttr.SQ_PSN, attributes.getSq_psn());
        structure.set(JAVA_INT, Layout.QpAttr.DEST_QP_NUM, attributes.getDest_qp_num());
        structure.set(JAVA_INT, Layout.QpAttr.QP_ACCESS_FLAGS, attributes.getQp_access_flags());
        structure.set(JAVA_SHORT, Layout.QpAttr.PKEY_INDEX, attributes.getPkey_index());
        structure.set(JAVA_BYTE, Layout.QpAttr.MAX_RD_ATOMIC, attributes.getMax_rd_atomic());
        structure.set(JAVA_BYTE, Layout.QpAttr.MAX_DEST_RD_ATOMIC,
                attributes.getMax_dest_rd_atomic());
        structure.set(JAVA_BYTE, Layout.QpAttr.MIN_RNR_TIMER, attributes.getMin_rnr_timer());
        structure.set(JAVA_BYTE, Layout.QpAttr.PORT_NUM, attributes.getPort_num());
        structure.set(JAVA_BYTE, Layout.QpAttr.TIMEOUT, attributes.getTimeout());
        structure.set(JAVA_BYTE, Layout.QpAttr.RETRY_CNT, attributes.getRetry_cnt());
        structure.set(JAVA_BYTE, Layout.QpAttr.RNR_RETRY, attributes.getRnr_retry());
        addressHandle(attributes.getAh_attr(), structure.asSlice(Layout.QpAttr.AH_ATTR));
        return structure;
    }

    /**
     * Returns DiSNI's attributes of a library's structure; the mask tells which of them are valid.
     */
    static IbvQpAttr attributes(MemorySegment structure, int mask) {
        IbvQpAttr attributes = new Foreign.QueuePairAttributes();
        attributes.setQpAttrMask(mask);
        attributes.setQp_state(structure.get(JAVA_INT, Layout.QpAttr.QP_STATE));
        attributes.setCur_qp_state(structure.get(JAVA_INT, Layout.QpAttr.CUR_QP_STATE));
        attributes.setPath_mtu(structure.get(JAVA_INT, Layout.QpAttr.PATH_MTU));
        attributes.setPath_mig_state(structure.get(JAVA_INT, Layout.QpAttr.PATH_MIG_STATE));
        attributes.setQkey(structure.get(JAVA_INT, Layout.QpAttr.QKEY));
        attributes.setRq_psn(structure.get(JAVA_INT, Layout.QpAttr.RQ_PSN));
        attributes.setSq_psn(structure.get(JAVA_INT, Layout.QpAttr.SQ_PSN));
        attributes.setDest_qp_num(structure.get(JAVA_INT, Layout.QpAttr.DEST_QP_NUM));
        attributes.setQp_access_flags(structure.get(JAVA_INT, Layout.QpAttr.QP_ACCESS_FLAGS));
        attributes.setPkey_index(structure.get(JAVA_SHORT, Layout.QpAttr.PKEY_INDEX));
        attributes.setMax_rd_atomic(structure.get(JAVA_BYTE, Layout.QpAttr.MAX_RD_ATOMIC));
        attributes.setMax_dest_rd_atomic(
                structure.get(JAVA_BYTE, Layout.QpAttr.MAX_DEST_RD_ATOMIC));
        attributes.setMin_rnr_timer(structure.get(JAVA_BYTE, Layout.QpAttr.MIN_RNR_TIMER));
        attributes.setPort_num(structure.get(JAVA_BYTE, Layout.QpAttr.PORT_NUM));
        attributes.setTimeout(structure.get(JAVA_BYTE, Layout.QpAttr.TIMEOUT));
        attributes.setRetry_cnt(structure.get(JAVA_BYTE, Layout.QpAttr.RETRY_CNT));
        attributes.setRnr_retry(structure.get(JAVA_BYTE, Layout.QpAttr.RNR_RETRY));
        addressHandle(structure.asSlice(Layout.QpAttr.AH_ATTR), attributes.getAh_attr());
        return attributes;
    }

    private static void addressHandle(MemorySegment structure, IbvAhAttr handle) {
        handle.getGrh()
                .setDgid(structure.asSlice(Layout.AhAttr.DGID, GID_BYTES).toArray(JAVA_BYTE));
        handle.getGrh().setFlow_label(structure.get(JAVA_INT, Layout.AhAttr.FLOW_LABEL));
        handle.getGrh().setSgid_index(structure.get(JAVA_BYTE, Layout.AhAttr.SGID_INDEX));
        handle.getGrh().setHop_limit(structure.get(JAVA_BYTE, Layout.AhAttr.HOP_LIMIT));
        handle.getGrh().setTraffic_class(structure.get(JAVA_BYTE, Layout.AhAttr.TRAFFIC_CLASS));
        handle.setDlid(structure.get(JAVA_SHORT, Layout.AhAttr.DLID));
        handle.setSl(structure.get(JAVA_BYTE, Layout.AhAttr.SL));
        handle.setSrc_path_bits(structure.get(JAVA_BYTE, Layout.AhAttr.SRC_PATH_BITS));
        handle.setStatic_rate(structure.get(JAVA_BYTE, Layout.AhAttr.STATIC_RATE));
        handle.setIs_global(structure.get(JAVA_BYTE, Layout.AhAttr.IS_GLOBAL));
        handle.setPort_num(structure.get(JAVA_BYTE, Layout.AhAttr.PORT_NUM));
    }

    private static void addressHandle(IbvAhAttr handle, MemorySegment structure) {
        byte[] gid = handle.getGrh().getDgid();
        if (gid != null) {
            MemorySegment.copy(gid, 0, structure, JAVA_BYTE, Layout.AhAttr.DGID, gid.length);
        }
        structure.set(JAVA_INT, Layout.AhAttr.FLOW_LABEL, handle.getGrh().getFlow_label());
        structure.set(JAVA_BYTE, Layout.AhAttr.SGID_INDEX, handle.getGrh().getSgid_index());
        structure.set(JAVA_BYTE, Layout.AhAttr.HOP_LIMIT, handle.getGrh().getHop_limit());
        structure.set(JAVA_BYTE, Layout.AhAttr.TRAFFIC_CLASS,
                handle.getGrh().getTraffic_class());
        structure.set(JAVA_SHORT, Layout.AhAttr.DLID, handle.getDlid());
        structure.set(JAVA_BYTE, Layout.AhAttr.SL, handle.getSl());
        structure.set(JAVA_BYTE, Layout.AhAttr.SRC_PATH_BITS, handle.getSrc_path_bits());
        structure.set(JAVA_BYTE, Layout.AhAttr.STATIC_RATE, handle.getStatic_rate());
        structure.set(JAVA_BYTE, Layout.AhAttr.IS_GLOBAL, handle.getIs_global());
        structure.set(JAVA_BYTE, Layout.AhAttr.PORT_NUM, handle.getPort_num());
    }

    private static long addressOf(IbvCQ queue) {
        Foreign.requireOpen(queue.isOpen());
        return Foreign.completionQueue(queue).address;
    }
}
