package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.IbvAhAttr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.PairedRoute;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.os.adapter.QueuePairStates;
import io.railhead.os.verbs.VerbsExtensions;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The fake library looks at no object that it is handed, so there is none. */
@SuppressWarnings("NullAway")
final class QueuePairStatesTest {
    private static final int PATH_MTU_2048 = 4;
    private static final int PATH_MTU_1024 = 3;
    private static final @Nullable RdmaCmId NO_ID = null;
    private static final @Nullable IbvQP NO_PAIR = null;

    private final List<IbvQpAttr> modified = new ArrayList<>();

    /** rdma_cm knows a path of 2048 bytes and service level 1; what is modified is kept. */
    private final VerbsExtensions verbs = (VerbsExtensions) Proxy.newProxyInstance(
            VerbsExtensions.class.getClassLoader(), new Class<?>[]{VerbsExtensions.class},
            (_, method, arguments) -> switch (method.getName()) {
                case "connectionAttributes" -> known((int) arguments[1]);
                case "queuePairAttributes" -> new TestAttributes(0);
                case "modify" -> {
                    modified.add((IbvQpAttr) arguments[1]);
                    yield null;
                }
                default -> throw new AssertionError("not expected: " + method);
            });

    private static IbvQpAttr known(int state) {
        IbvQpAttr attributes = new TestAttributes(state);
        attributes.setPath_mtu(PATH_MTU_2048);
        attributes.getAh_attr().setSl((byte) 1);
        attributes.getAh_attr().getGrh().setTraffic_class((byte) 8);
        attributes.setQp_access_flags(2);
        return attributes;
    }

    private IbvQpAttr readyWith(QueuePairConfig config) throws IOException {
        QueuePairStates states = new QueuePairStates(verbs, config);
        modified.clear();
        states.toReady(NO_ID, NO_PAIR, states.route(NO_ID), 5, 7);
        return modified.removeFirst();
    }

    private static QueuePairConfig config(OptionalInt level, int mtu) {
        return new QueuePairConfig(128, 16, 16, 16, 17, 4, 2, 13, OptionalInt.empty(), level, mtu);
    }

    @Test
    void thePathsMtuHoldsAndTheConfiguredOneIsItsLimit() throws IOException {
        assertThat(readyWith(config(OptionalInt.empty(), 4096)).getPath_mtu())
                .isEqualTo(PATH_MTU_2048);
        assertThat(readyWith(config(OptionalInt.empty(), 1024)).getPath_mtu())
                .isEqualTo(PATH_MTU_1024);
        assertThat(readyWith(config(OptionalInt.empty(), 256)).getPath_mtu()).isEqualTo(1);
    }

    @Test
    void theServiceLevelIsThePathsUnlessItIsConfigured() throws IOException {
        assertThat(readyWith(config(OptionalInt.empty(), 4096)).getAh_attr().getSl())
                .isEqualTo((byte) 1);
        assertThat(readyWith(config(OptionalInt.of(0), 4096)).getAh_attr().getSl()).isZero();
        assertThat(readyWith(config(OptionalInt.of(15), 4096)).getAh_attr().getSl())
                .isEqualTo((byte) 15);
    }

    /** rdma_cm sets the type of service of an id that connects, and not of what it accepts. */
    @Test
    void theTrafficClassIsThePathsUnlessItIsConfigured() throws IOException {
        assertThat(trafficClass(OptionalInt.empty())).isEqualTo((byte) 8);
        assertThat(trafficClass(OptionalInt.of(96))).isEqualTo((byte) 96);
        assertThat(trafficClass(OptionalInt.of(0))).isZero();
    }

    private byte trafficClass(OptionalInt configured) throws IOException {
        return readyWith(new QueuePairConfig(128, 16, 16, 16, 17, 4, 2, 13, configured,
                OptionalInt.empty(), 4096)).getAh_attr().getGrh().getTraffic_class();
    }

    @Test
    void timersRetriesAndDepthsAreTheConfigured() throws IOException {
        IbvQpAttr receiving = readyWith(config(OptionalInt.empty(), 4096));
        assertThat(receiving.getQp_state()).isEqualTo(IbvQP.IBV_QPS_RTR);
        assertThat(receiving.getMin_rnr_timer()).isEqualTo((byte) 13);
        assertThat(receiving.getMax_dest_rd_atomic()).isEqualTo((byte) 5);
        IbvQpAttr sending = modified.removeFirst();
        assertThat(sending.getQp_state()).isEqualTo(IbvQP.IBV_QPS_RTS);
        assertThat(sending.getTimeout()).isEqualTo((byte) 17);
        assertThat(sending.getRetry_cnt()).isEqualTo((byte) 4);
        assertThat(sending.getRnr_retry()).isEqualTo((byte) 2);
        assertThat(sending.getMax_rd_atomic()).isEqualTo((byte) 7);
        assertThat(modified).isEmpty();
    }

    @Test
    void aPairedQueuePairIsToldAllThatRdmaCmWouldKnow() throws Exception {
        QueuePairStates states = new QueuePairStates(verbs, new QueuePairConfig(128, 16, 16, 16,
                17, 4, 2, 13, OptionalInt.of(96), OptionalInt.of(3), 2048));
        states.toInit(NO_PAIR, 2, 1);
        states.toReady(NO_PAIR, new PairedRoute(2, 5, 5,
                new QueuePairEnd(0x111111, InetAddress.getByName("10.99.0.1"), 0, 0xABCDEF),
                new QueuePairEnd(0x222222, InetAddress.getByName("10.99.0.2"), 0xFFFE, 0x123456)),
                0, 1);
        IbvQpAttr initial = modified.removeFirst();
        assertThat(initial.getQp_state()).isEqualTo(IbvQP.IBV_QPS_INIT);
        assertThat(initial.getPort_num()).isEqualTo((byte) 2);
        assertThat(initial.getQp_access_flags()).isOne();
        assertThat(initial.getQpAttrMask()).isEqualTo(0x39);

        IbvQpAttr receiving = modified.removeFirst();
        assertThat(receiving.getQp_state()).isEqualTo(IbvQP.IBV_QPS_RTR);
        assertThat(receiving.getPath_mtu()).as("the limit").isEqualTo(PATH_MTU_2048);
        assertThat(receiving.getDest_qp_num()).isEqualTo(0x222222);
        assertThat(receiving.getRq_psn()).isEqualTo(0x123456);
        assertThat(receiving.getMax_dest_rd_atomic()).isZero();
        assertThat(receiving.getMin_rnr_timer()).isEqualTo((byte) 13);
        assertThat(receiving.getQpAttrMask()).isEqualTo(0x128181 | 1 << 12);
        IbvAhAttr handle = receiving.getAh_attr();
        assertThat(handle.getIs_global()).isEqualTo((byte) 1);
        assertThat(handle.getPort_num()).isEqualTo((byte) 2);
        assertThat(handle.getDlid()).isEqualTo((short) 0xFFFE);
        assertThat(handle.getSl()).isEqualTo((byte) 3);
        assertThat(handle.getGrh().getTraffic_class()).isEqualTo((byte) 96);
        assertThat(handle.getGrh().getSgid_index()).isEqualTo((byte) 5);
        assertThat(handle.getGrh().getHop_limit()).isEqualTo((byte) 64);
        assertThat(handle.getGrh().getDgid()).endsWith(0xff, 0xff, 10, 99, 0, 2).hasSize(16);

        IbvQpAttr sending = modified.removeFirst();
        assertThat(sending.getQp_state()).isEqualTo(IbvQP.IBV_QPS_RTS);
        assertThat(sending.getSq_psn()).isEqualTo(0xABCDEF);
        assertThat(sending.getTimeout()).isEqualTo((byte) 17);
        assertThat(sending.getRetry_cnt()).isEqualTo((byte) 4);
        assertThat(sending.getRnr_retry()).isEqualTo((byte) 2);
        assertThat(sending.getMax_rd_atomic()).isEqualTo((byte) 1);
        assertThat(sending.getQpAttrMask()).isEqualTo(0x12E01);
    }

    @Test
    void aPeerHasTheRightsOfTheQueuePairAndNotThoseOfRdmaCm() throws IOException {
        new QueuePairStates(verbs, QueuePairConfig.DEFAULT).toInit(NO_ID, NO_PAIR, 0);
        assertThat(modified.getFirst().getQp_access_flags()).isZero();
    }

    @Test
    void whatIsNoMtuOrServiceLevelIsRefused() {
        assertThatThrownBy(() -> config(OptionalInt.empty(), 1500))
                .hasMessage("maxPathMtu must be a power of two: 1500");
        assertThatThrownBy(() -> config(OptionalInt.empty(), 8192))
                .hasMessage("maxPathMtu must be 256 to 4096: 8192");
        assertThatThrownBy(() -> config(OptionalInt.of(16), 4096))
                .hasMessage("serviceLevel must be 0 to 15: 16");
    }
}
