package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidType;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaPort;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaOutlookTest {
    private static final List<RdmaDevice> DEVICES = List.of(
            new RdmaDevice("mlx5_0", "CA", 0, List.of(
                    port(1, "ACTIVE", gid(0, "fe80::1", GidType.ROCE_V2),
                            gid(1, "10.99.0.1", GidType.ROCE_V1),
                            gid(2, "10.99.0.1", GidType.ROCE_V2)),
                    port(2, "DOWN", gid(0, "10.99.1.1", GidType.ROCE_V2)))),
            new RdmaDevice("mlx5_1", "CA", 0,
                    List.of(port(1, "ACTIVE", gid(3, "10.99.0.2", GidType.ROCE_V2)))));

    @TempDir
    Path folder;

    private static RdmaPort port(int number, String state, Gid... gids) {
        return new RdmaPort(number, state, "Ethernet", "100 Gb/sec (4X EDR)", List.of(gids));
    }

    private static Gid gid(int index, String address, GidType type) {
        return new Gid(index, InetAddress.ofLiteral(address), type,
                Optional.of(new Gid.NetworkInterface("eth0", 1500)));
    }

    private List<String> lines(String rdma, List<RdmaDevice> devices) throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), "");
        GatewayConfig config = ConfigLoader.load(Files.writeString(folder.resolve("r.yaml"), """
                gateway: {credentials: credentials.yaml}
                backends: {a: {endpoints: ["http://s3:80"]}}
                rdma: {loopback: {socket: l.sock}, %s}
                """.formatted(rdma)));
        return new RdmaOutlook(config.rdma()).lines(devices);
    }

    private String verbs(String verbs) throws Exception {
        return String.join("\n", lines("verbs: {enabled: true, " + verbs + "}", DEVICES)
                .stream()
                .skip(1)
                .toList());
    }

    @Test
    void whatIsSwitchedOffSaysByWhichKey() throws Exception {
        assertThat(lines("verbs: {enabled: false}", DEVICES)).containsExactly(
                "rdma over loopback: " + folder.resolve("l.sock"),
                "rdma over verbs: switched off by rdma.verbs.enabled");
    }

    @Test
    void withoutAnAddressEveryPortThatIsUpIsUsed() throws Exception {
        assertThat(verbs("port: 7471")).isEqualTo("""
                rdma over verbs: 10.99.0.1 port 7471 on mlx5_0 port 1 (GID 2, rocev2, Ethernet, \
                100 Gb/sec (4X EDR), MTU 1024)
                rdma over verbs: 10.99.0.2 port 7471 on mlx5_1 port 1 (GID 3, rocev2, Ethernet, \
                100 Gb/sec (4X EDR), MTU 1024)""");
    }

    @Test
    void anAddressFindsItsPort() throws Exception {
        assertThat(verbs("listen: [10.99.0.2]")).contains("mlx5_1 port 1 (GID 3")
                .doesNotContain("mlx5_0");
        assertThat(verbs("listen: [10.99.1.1]")).contains("not available", "port 2 is DOWN");
    }

    @Test
    void aPinIsObeyedWhateverTheAddress() throws Exception {
        assertThat(verbs("device: mlx5_0, gid_index: 0")).contains("GID 0");
        assertThat(verbs("device: mlx5_1")).contains("mlx5_1").doesNotContain("mlx5_0");
        assertThat(verbs("device: mlx5_7"))
                .contains("not available: there is no device mlx5_7 among mlx5_0, mlx5_1");
    }

    @Test
    void withoutDevicesTheReasonIsSaid() throws Exception {
        assertThat(lines("verbs: {enabled: true}", List.of()).getLast()).isEqualTo(
                "rdma over verbs: not available: the kernel lists no RDMA device");
    }

    @Test
    void whatPeersAreToldIsNamed() throws Exception {
        assertThat(lines("verbs: {enabled: true}, advertise: {addresses: [rack7-ib], port: 9}",
                DEVICES).getLast())
                .isEqualTo("rdma over verbs: peers are told rack7-ib, port 9");
    }

    @Test
    void dcSaysWhatClientsMustHaveToo() throws Exception {
        assertThat(lines("dc: {enabled: true}", DEVICES)).last()
                .isEqualTo("rdma over dc: the"
                        + " first mlx5 adapter, MTU of the port, traffic class 96, the well-known DC key");
        assertThat(lines("dc: {enabled: true, device: mlx5_1, mtu: 1024, key_file: k}", DEVICES))
                .last()
                .isEqualTo("rdma over dc: mlx5_1 port 1, MTU 1024, traffic class 96,"
                        + " DC key of the site's own");
    }
}
