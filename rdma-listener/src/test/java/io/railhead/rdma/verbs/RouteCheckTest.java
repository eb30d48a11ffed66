package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import java.net.InetAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RouteCheckTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("10.0.0.7");

    /** Index 1 is RoCE v1, 3 and 200 RoCE v2 of the same address; the others are holes. */
    private static Optional<Gid> gid(String device, int port, int index) {
        return device.equals("mlx5_0") && port == 2 && (index == 1 || index == 3 || index == 200)
                ? Optional.of(new Gid(index, ADDRESS,
                        index == 1 ? GidType.ROCE_V1 : GidType.ROCE_V2, Optional.empty()))
                : Optional.empty();
    }

    private static @Nullable String objection(GidRequest wanted, int index) {
        return new RouteCheck(wanted, RouteCheckTest::gid).findObjection("mlx5_0",
                TestAttributes.route(true, 2, index));
    }

    @Test
    void theConfiguredTypeIsLetIn() {
        assertThat(objection(GidRequest.of(GidType.ROCE_V2), 3)).isNull();
        assertThat(objection(GidRequest.of(GidType.ROCE_V2), 200)).isNull();
        assertThat(objection(GidRequest.of(GidType.ROCE_V1), 1)).isNull();
    }

    @Test
    void anotherTypeIsRefusedWithWhatWasFoundAndTheMend() {
        assertThat(objection(GidRequest.of(GidType.ROCE_V2), 1))
                .contains("GID 1 of mlx5_0 port 2, 10.0.0.7 of type rocev1")
                .contains("not GID of type rocev2")
                .contains("/sys/kernel/config/rdma_cm/mlx5_0/ports/2/default_roce_mode");
        assertThat(objection(GidRequest.of(GidType.ROCE_V1), 3)).contains("of type rocev2");
    }

    @Test
    void aHoleOrAnotherThanThePinnedIsRefused() {
        assertThat(objection(GidRequest.of(GidType.ROCE_V2), 0)).contains("GID 0 of mlx5_0");
        GidRequest pinned = GidRequest.of(GidType.ROCE_V2)
                .pinned(new GidRequest.Pin("mlx5_0", 2, 3));
        assertThat(objection(pinned, 3)).isNull();
        assertThat(objection(pinned, 200)).contains("not GID 3 on mlx5_0 port 2");
    }

    @Test
    void onlyInfinibandNeedsNoGid() {
        var local = TestAttributes.route(false, 2, 0);
        assertThat(new RouteCheck(GidRequest.of(GidType.INFINIBAND), RouteCheckTest::gid)
                .findObjection("mlx5_0", local)).isNull();
        assertThat(new RouteCheck(GidRequest.of(GidType.ROCE_V2), RouteCheckTest::gid)
                .findObjection("mlx5_0", local)).contains("rdma.gid_type: ib");
    }
}
