package io.railhead.os.devices;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RdmaDevicesTest {
    private static final String LINK_LOCAL = "fe80:0000:0000:0000:5054:00ff:fe12:3456";
    private static final String MAPPED = "0000:0000:0000:0000:0000:ffff:0a63:0001";
    private static final String GLOBAL = "2001:0db8:0000:0000:0000:0000:0000:0001";
    private static final String HOLE = "0000:0000:0000:0000:0000:0000:0000:0000";

    @TempDir
    private Path sysfs;

    @Test
    void aKernelWithoutRdmaHasNoDevices() {
        assertThat(RdmaDevices.read(sysfs)).isEmpty();
    }

    @Test
    void aPortIsReadWithItsGidsAndTheirInterfaces() throws IOException {
        device("mlx5_1", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_1", 0, LINK_LOCAL, "IB/RoCE v1", "eth7");
        gid("mlx5_1", 10, MAPPED, "RoCE v2", "eth7");
        gid("mlx5_1", 2, HOLE, "RoCE v2", "eth7");
        write("class/net/eth7/mtu", "1500");
        write("class/infiniband/mlx5_1/device/numa_node", "1");

        RdmaDevice device = RdmaDevices.read(sysfs).getFirst();

        assertThat(device.name()).isEqualTo("mlx5_1");
        assertThat(device.numaNode()).isEqualTo(1);
        RdmaPort port = device.ports().getFirst();
        assertThat(port.isActive()).isTrue();
        assertThat(port.rate()).isEqualTo("100 Gb/sec (4X EDR)");
        assertThat(port.gids()).containsExactly(
                new Gid(0, address("fe80::5054:ff:fe12:3456"), GidType.ROCE_V1,
                        Optional.of(new Gid.NetworkInterface("eth7", 1500))),
                new Gid(10, address("10.99.0.1"), GidType.ROCE_V2,
                        Optional.of(new Gid.NetworkInterface("eth7", 1500))));
    }

    @Test
    void oneEntryIsFoundAsItIsReadWithTheOthers() throws IOException {
        device("mlx5_1", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_1", 0, LINK_LOCAL, "IB/RoCE v1", "eth7");
        gid("mlx5_1", 2, HOLE, "RoCE v2", "eth7");
        gid("mlx5_1", 10, MAPPED, "RoCE v2", "eth7");

        for (Gid gid : RdmaDevices.read(sysfs).getFirst().ports().getFirst().gids()) {
            assertThat(RdmaDevices.findGid(sysfs, "mlx5_1", 1, gid.index())).contains(gid);
        }
        assertThat(RdmaDevices.findGid(sysfs, "mlx5_1", 1, 2)).isEmpty();
        assertThat(RdmaDevices.findGid(sysfs, "mlx5_1", 2, 10)).isEmpty();
        assertThat(RdmaDevices.findGid(sysfs, "mlx5_9", 1, 10)).isEmpty();
    }

    @Test
    void aGidHasItsBytesWhicheverWayItIsRead() throws IOException {
        device("mlx5_0", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_0", 0, MAPPED, "RoCE v2", "eth0");
        gid("mlx5_0", 1, GLOBAL, "RoCE v2", "eth0");

        assertThat(RdmaDevices.read(sysfs).getFirst().ports().getFirst().gids())
                .extracting(gid -> HexFormat.of().formatHex(gid.bytes()))
                .containsExactly(MAPPED.replace(":", ""), GLOBAL.replace(":", ""));
    }

    @Test
    void anInterfaceCarriesTheLargestPayloadBelowItsMtu() {
        assertThat(new Gid.NetworkInterface("eth0", 1500).pathMtuBytes()).isEqualTo(1024);
        assertThat(new Gid.NetworkInterface("eth0", 4200).pathMtuBytes()).isEqualTo(4096);
        assertThat(new Gid.NetworkInterface("eth0", 4191).pathMtuBytes()).isEqualTo(2048);
        assertThat(new Gid.NetworkInterface("eth0", 9000).pathMtuBytes()).isEqualTo(4096);
    }

    @Test
    void linkLocalAddressesAndOtherTypesArePassedOver() throws IOException {
        device("mlx5_0", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_0", 0, LINK_LOCAL, "IB/RoCE v1", "eth0");
        gid("mlx5_0", 1, LINK_LOCAL, "RoCE v2", "eth0");
        gid("mlx5_0", 2, MAPPED, "IB/RoCE v1", "eth0");
        gid("mlx5_0", 3, MAPPED, "RoCE v2", "eth0");

        assertThat(choose(GidRequest.of(GidType.ROCE_V2))).isEqualTo("mlx5_0 1 3");
        assertThat(choose(GidRequest.of(GidType.ROCE_V1))).isEqualTo("mlx5_0 1 2");
    }

    @Test
    void anAddressChoosesAmongDevices() throws IOException {
        device("mlx5_0", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_0", 0, MAPPED, "RoCE v2", "eth0");
        device("mlx5_1", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_1", 5, GLOBAL, "RoCE v2", "eth1");

        GidRequest any = GidRequest.of(GidType.ROCE_V2);
        assertThat(choose(any)).isEqualTo("mlx5_0 1 0");
        assertThat(choose(any.at(address("2001:db8::1")))).isEqualTo("mlx5_1 1 5");
        assertThat(choose(any.at(address("10.1.1.1")))).isEqualTo(
                "no GID of type rocev2 with address 10.1.1.1: mlx5_0 port 1 has no such GID"
                        + " among 1; mlx5_1 port 1 has no such GID among 1");
    }

    @Test
    void aPinIsTakenWhateverItsTypeAndAddress() throws IOException {
        device("mlx5_0", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_0", 0, LINK_LOCAL, "IB/RoCE v1", "eth0");
        gid("mlx5_0", 3, MAPPED, "RoCE v2", "eth0");
        GidRequest request = GidRequest.of(GidType.ROCE_V2);

        assertThat(choose(request.pinned(new GidRequest.Pin("mlx5_0", 1, 0))))
                .isEqualTo("mlx5_0 1 0");
        assertThat(choose(request.pinned(new GidRequest.Pin("mlx5_0", 1, 7))))
                .startsWith("no GID 7 on mlx5_0 port 1: ");
    }

    @Test
    void infinibandUsesLinkLocalGids() throws IOException {
        device("mlx5_0", "1: CA", "4: ACTIVE", "InfiniBand");
        gid("mlx5_0", 0, LINK_LOCAL, "IB/RoCE v1", "");

        assertThat(choose(GidRequest.of(GidType.INFINIBAND))).isEqualTo("mlx5_0 1 0");
        assertThat(choose(GidRequest.of(GidType.ROCE_V1))).startsWith("no GID");
    }

    @Test
    void iwarpAndPortsThatAreDownAreRefusedWithTheirReason() throws IOException {
        device("irdma0", "4: RNIC", "4: ACTIVE", "Ethernet");
        gid("irdma0", 0, MAPPED, "RoCE v2", "eth0");
        device("mlx5_0", "1: CA", "1: DOWN", "Ethernet");
        gid("mlx5_0", 0, MAPPED, "RoCE v2", "eth1");

        assertThat(choose(GidRequest.of(GidType.ROCE_V2))).contains("irdma0 is iWARP")
                .contains("mlx5_0 port 1 is DOWN");
    }

    @Test
    void aChangedTableIsSeenByTheNextReading() throws IOException {
        device("mlx5_0", "1: CA", "4: ACTIVE", "Ethernet");
        gid("mlx5_0", 3, MAPPED, "RoCE v2", "eth0");
        assertThat(choose(GidRequest.of(GidType.ROCE_V2))).isEqualTo("mlx5_0 1 3");

        gid("mlx5_0", 3, HOLE, "RoCE v2", "eth0");
        gid("mlx5_0", 8, MAPPED, "RoCE v2", "eth0");
        assertThat(choose(GidRequest.of(GidType.ROCE_V2))).isEqualTo("mlx5_0 1 8");
    }

    @Test
    void gidTypesAreSpelledAsInTheConfiguration() {
        assertThat(List.of("rocev2", "rocev1", "ib")).extracting(GidType::ofConfigured)
                .containsExactly(Optional.of(GidType.ROCE_V2), Optional.of(GidType.ROCE_V1),
                        Optional.of(GidType.INFINIBAND));
        assertThat(GidType.ofConfigured("iwarp")).isEmpty();
    }

    private String choose(GidRequest request) {
        return switch (GidChoice.of(RdmaDevices.read(sysfs), request)) {
            case GidChoice.Chosen(RdmaDevice device, RdmaPort port, Gid gid) ->
                device.name() + " " + port.number() + " " + gid.index();
            case GidChoice.None(String reason) -> reason;
        };
    }

    private void device(String name, String nodeType, String state, String linkLayer)
            throws IOException {
        String device = "class/infiniband/" + name;
        write(device + "/node_type", nodeType);
        write(device + "/ports/1/state", state);
        write(device + "/ports/1/link_layer", linkLayer);
        write(device + "/ports/1/rate", "100 Gb/sec (4X EDR)");
    }

    private void gid(String device, int index, String gid, String type, String network)
            throws IOException {
        String port = "class/infiniband/" + device + "/ports/1";
        write(port + "/gids/" + index, gid);
        write(port + "/gid_attrs/types/" + index, type);
        write(port + "/gid_attrs/ndevs/" + index, network);
    }

    private void write(String file, String text) throws IOException {
        Path path = sysfs.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text + "\n");
    }

    private static InetAddress address(String text) throws IOException {
        return InetAddress.getByName(text);
    }
}
