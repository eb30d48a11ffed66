package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.railhead.cli.doctor.Finding.Mark;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Help.Ansi;

/** Machines that are folders: what is found on each, and that each failing has its mend. */
class DoctorTest {
    private static final String VERBS = "rdma: {verbs: {enabled: true}}\n";
    private static final String MAPPED = "0000:0000:0000:0000:0000:ffff:0a63:0001";
    private static final String LINK_LOCAL = "fe80:0000:0000:0000:5054:00ff:fe12:3456";

    @TempDir
    Path root;

    private final Set<String> libraries = new HashSet<>(
            List.of("libibverbs.so.1", "librdmacm.so.1"));
    private final Set<Path> denied = new HashSet<>();

    /** A roomy machine without RDMA. */
    @BeforeEach
    void machine() throws IOException {
        write("proc/meminfo", """
                MemAvailable:   67108864 kB
                HugePages_Total:       0
                HugePages_Free:        0
                Hugepagesize:       2048 kB
                """);
        limits("unlimited", "1048576");
        write("proc/self/status", "CapEff:\t0000000000000000\n");
        write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always advise [never] deny\n");
        Files.createDirectories(root.resolve("run/railhead"));
        Files.createDirectories(root.resolve("dev/shm"));
    }

    private void limits(String memlock, String files) throws IOException {
        write("proc/self/limits", """
                Limit                     Soft Limit           Hard Limit           Units
                Max open files            %-20s %-20s files
                Max locked memory         %-20s %-20s bytes
                """.formatted(files, files, memlock, memlock));
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void device(String name, String nodeType, String driver) throws IOException {
        write("sys/class/infiniband/" + name + "/node_type", nodeType + "\n");
        Path device = Files
                .createDirectories(root.resolve("sys/class/infiniband/" + name + "/device"));
        Files.createSymbolicLink(device.resolve("driver"), Path.of("/sys/bus/" + driver));
    }

    private void port(String device, String state, String linkLayer) throws IOException {
        String port = "sys/class/infiniband/" + device + "/ports/1/";
        write(port + "state", state + "\n");
        write(port + "link_layer", linkLayer + "\n");
        write(port + "rate", "100 Gb/sec (4X EDR)\n");
    }

    private void gid(String device, int index, String gid, String type, String network)
            throws IOException {
        String port = "sys/class/infiniband/" + device + "/ports/1/";
        write(port + "gids/" + index, gid + "\n");
        write(port + "gid_attrs/types/" + index, type + "\n");
        if (!network.isEmpty()) {
            write(port + "gid_attrs/ndevs/" + index, network + "\n");
        }
    }

    private void nodes() throws IOException {
        write("dev/infiniband/uverbs0", "");
        write("dev/infiniband/rdma_cm", "");
    }

    /** An adapter on Ethernet with everything that it needs. */
    private void roce(String mtu) throws IOException {
        device("mlx5_0", "1: CA", "mlx5_core");
        port("mlx5_0", "4: ACTIVE", "Ethernet");
        gid("mlx5_0", 0, LINK_LOCAL, "IB/RoCE v1", "eth0");
        gid("mlx5_0", 1, LINK_LOCAL, "RoCE v2", "eth0");
        gid("mlx5_0", 2, MAPPED, "IB/RoCE v1", "eth0");
        gid("mlx5_0", 3, MAPPED, "RoCE v2", "eth0");
        write("sys/class/net/eth0/mtu", mtu + "\n");
        write("etc/libibverbs.d/mlx5.driver", "driver mlx5\n");
        nodes();
    }

    private List<Finding> examine(String yaml) throws IOException {
        Host host = new Host(root, path -> Files.exists(path) && !denied.contains(path),
                libraries::contains);
        Parts unwatched = new Parts(new PrintWriter(Writer.nullWriter()), false);
        List<Finding> findings = new Doctor(host, unwatched)
                .examineMachine(yaml.isEmpty() ? null : config(yaml));
        assertThat(findings).allSatisfy(finding -> {
            assertThat(finding.found()).isNotBlank();
            assertThat(finding.why()).isNotBlank();
            assertThat(finding.mend().isEmpty()).as(finding.subject())
                    .isEqualTo(finding.mark() == Mark.OK);
        });
        return findings;
    }

    private Path config(String yaml) throws IOException {
        write("etc/railhead/credentials.yaml", "");
        write("etc/railhead/railhead.yaml", """
                gateway: {credentials: credentials.yaml}
                backends: {a: {endpoints: ["http://s3:80"]}}
                """ + yaml);
        return root.resolve("etc/railhead/railhead.yaml");
    }

    private static Finding of(List<Finding> findings, String subject) {
        return findings.stream()
                .filter(finding -> finding.subject().equals(subject))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + subject + " in " + findings));
    }

    private static List<String> subjects(List<Finding> findings, Mark mark) {
        return findings.stream()
                .filter(finding -> finding.mark() == mark)
                .map(Finding::subject)
                .toList();
    }

    private static boolean isFine(List<Finding> findings) {
        return new DoctorReport(findings).isFine();
    }

    @Test
    void aMachineWithoutRdmaIsFineUnlessVerbsAreAskedFor() throws IOException {
        List<Finding> plain = examine("");
        assertThat(subjects(plain, Mark.OK)).hasSameSizeAs(plain);
        assertThat(of(plain, "configuration").found()).contains("the defaults");
        assertThat(of(plain, "devices").found()).contains("none is asked for");

        libraries.clear();
        List<Finding> asked = examine(VERBS);
        assertThat(subjects(asked, Mark.FAIL)).containsExactly("devices", "libibverbs.so.1",
                "librdmacm.so.1");
        assertThat(of(asked, "devices").mend()).contains("modprobe mlx5_ib", "rdma link add rxe0");
    }

    @Test
    void aRoceMachineChoosesTheGidThatPeersReach() throws IOException {
        roce("9000");
        List<Finding> findings = examine(VERBS);

        assertThat(subjects(findings, Mark.OK)).as("%s", findings).hasSameSizeAs(findings);
        assertThat(of(findings, "address").found()).isEqualTo(
                "10.99.0.1 on mlx5_0/1, GID 3, rocev2, eth0; 2 link-local passed over");
        assertThat(of(findings, "provider").found()).isEqualTo("mlx5, for mlx5_0");
    }

    @Test
    void aSmallInterfaceMtuIsPointedOutAndATooLargeOneFails() throws IOException {
        roce("1500");
        Finding small = of(examine(VERBS), "mtu");
        assertThat(small.mark()).isEqualTo(Mark.WARN);
        assertThat(small.found()).isEqualTo("eth0 has 1500, so RDMA 1024");
        assertThat(small.mend()).contains("ip link set eth0 mtu 4200");

        assertThat(of(examine("rdma: {verbs: {enabled: true, mtu: 4096}}\n"), "mtu").mark())
                .isEqualTo(Mark.FAIL);
    }

    @Test
    void addressesThatAllAreLinkLocalOrOfAnotherTypeFail() throws IOException {
        roce("9000");
        Files.delete(root.resolve("sys/class/infiniband/mlx5_0/ports/1/gids/3"));
        Finding none = of(examine(VERBS), "address");
        assertThat(none.mark()).isEqualTo(Mark.FAIL);
        assertThat(none.mend()).contains("ip address add", "rdma.gid_type");

        assertThat(of(examine("rdma: {gid_type: rocev1, verbs: {enabled: true}}\n"), "address")
                .found()).contains("GID 2, rocev1");
    }

    @Test
    void anInfinibandPortWaitsForItsSubnetManager() throws IOException {
        device("mlx5_0", "1: CA", "mlx5_core");
        port("mlx5_0", "2: INIT", "InfiniBand");
        gid("mlx5_0", 0, LINK_LOCAL, "IB/RoCE v1", "");
        write("usr/lib64/libibverbs/libmlx5-rdmav34.so", "");
        nodes();
        String ib = "rdma: {gid_type: ib, verbs: {enabled: true}}\n";

        Finding waiting = of(examine(ib), "mlx5_0/1");
        assertThat(waiting.mark()).isEqualTo(Mark.FAIL);
        assertThat(waiting.mend()).contains("subnet manager");

        port("mlx5_0", "4: ACTIVE", "InfiniBand");
        List<Finding> findings = examine(ib);
        assertThat(isFine(findings)).as("%s", findings).isTrue();
        assertThat(of(findings, "address").found()).contains("mlx5_0/1, GID 0, ib");
        assertThat(of(examine(VERBS), "address").mark()).isEqualTo(Mark.FAIL);
    }

    @Test
    void iwarpIsRefusedWithItsReason() throws IOException {
        device("siw0", "4: RNIC", "siw");
        port("siw0", "4: ACTIVE", "Ethernet");
        gid("siw0", 0, MAPPED, "IB/RoCE v1", "eth0");
        nodes();
        Finding refused = of(examine(VERBS), "siw0");
        assertThat(refused.mark()).isEqualTo(Mark.FAIL);
        assertThat(refused.found()).contains("iWARP");
        assertThat(refused.why()).contains("does not mean that the bytes are placed");
    }

    @Test
    void softRoceHasAProviderOfItsOwn() throws IOException {
        roce("4200");
        write("sys/class/infiniband/mlx5_0/parent", "eth0\n");
        assertThat(of(examine(VERBS), "provider").found())
                .isEqualTo("rxe, for mlx5_0, is not installed");
        write("usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so", "");
        assertThat(of(examine(VERBS), "provider").mark()).isEqualTo(Mark.OK);
    }

    @Test
    void aContainerWithoutItsDevicesIsToldHowToGetThem() throws IOException {
        roce("9000");
        limits("8388608", "1048576");
        Files.delete(root.resolve("dev/infiniband/uverbs0"));
        Files.delete(root.resolve("dev/infiniband/rdma_cm"));
        write("var/run/secrets/kubernetes.io/token", "");
        List<Finding> findings = examine(VERBS);

        assertThat(subjects(findings, Mark.FAIL)).containsExactly("memlock", "uverbs", "rdma_cm");
        assertThat(of(findings, "uverbs").mend()).contains("--device /dev/infiniband");
        assertThat(of(findings, "rdma_cm").found()).contains("rdma_ucm is not loaded");
        assertThat(of(findings, "memlock").mend()).contains("IPC_LOCK");
        assertThat(of(findings, "container").found()).isEqualTo("a Kubernetes pod");
    }

    @Test
    void deviceFilesThatThisUserMayNotOpenFail() throws IOException {
        roce("9000");
        denied.add(root.resolve("dev/infiniband/rdma_cm"));
        denied.add(root.resolve("dev/infiniband/uverbs0"));
        assertThat(subjects(examine(VERBS), Mark.FAIL)).containsExactly("uverbs", "rdma_cm");
        assertThat(subjects(examine("cache: {memory: 1GiB}\n"), Mark.WARN))
                .containsExactly("verbs", "uverbs", "rdma_cm");
    }

    @Test
    void eachAdapterPinsTheCacheOnceMore() throws IOException {
        roce("9000");
        limits("4294967296", "1048576");
        assertThat(of(examine(VERBS), "memlock").mark()).isEqualTo(Mark.OK);

        device("mlx5_1", "1: CA", "mlx5_core");
        port("mlx5_1", "4: ACTIVE", "Ethernet");
        gid("mlx5_1", 0, "0000:0000:0000:0000:0000:ffff:0a63:0002", "RoCE v2", "eth0");
        Finding two = of(examine(VERBS), "memlock");
        assertThat(two.mark()).isEqualTo(Mark.FAIL);
        assertThat(two.found()).isEqualTo("4 GiB may be pinned, 8 GiB will be");
        assertThat(two.mend()).contains("LimitMEMLOCK=infinity");

        write("proc/self/status", "CapEff:\t0000000000004000\n");
        assertThat(of(examine(VERBS), "memlock").mark()).isEqualTo(Mark.OK);
    }

    @Test
    void pinningByConfigurationAloneNeedsTheRightToo() throws IOException {
        limits("8388608", "1048576");
        assertThat(of(examine("cache: {lock: false}\n"), "memlock").mark()).isEqualTo(Mark.OK);
        assertThat(of(examine("cache: {lock: true}\n"), "memlock").mark()).isEqualTo(Mark.FAIL);
    }

    @Test
    void tooLittleMemoryAndTooFewDescriptorsFail() throws IOException {
        write("proc/meminfo", "MemAvailable: 1048576 kB\n");
        limits("unlimited", "600");
        assertThat(subjects(examine(""), Mark.FAIL)).containsExactly("memory", "descriptors");
        limits("unlimited", "1024");
        assertThat(of(examine(""), "descriptors").mark()).isEqualTo(Mark.WARN);
        assertThat(of(examine(""), "descriptors").mend()).contains("LimitNOFILE=65536");
    }

    @Test
    void hugePagesAreCounted() throws IOException {
        write("proc/meminfo", """
                MemAvailable:   67108864 kB
                HugePages_Total:     100
                HugePages_Free:       90
                Hugepagesize:       2048 kB
                """);
        Finding few = of(examine(""), "huge pages");
        assertThat(few.mark()).isEqualTo(Mark.WARN);
        assertThat(few.mend()).isEqualTo("sysctl -w vm.nr_hugepages=2058");

        write("proc/meminfo", "MemAvailable: 67108864 kB\nHugepagesize: 2048 kB\n");
        write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
        assertThat(of(examine(""), "huge pages").mend()).startsWith("echo madvise > ");
    }

    @Test
    void theSocketsFolderMustBeThereAndWritable() throws IOException {
        denied.add(root.resolve("run/railhead"));
        assertThat(of(examine(""), "loopback").found()).contains("may not be written");
        Files.delete(root.resolve("run/railhead"));
        assertThat(of(examine(""), "loopback").mend()).contains("install -d");
        assertThat(of(examine("rdma: {loopback: {enabled: false}}\n"), "loopback").mark())
                .isEqualTo(Mark.OK);
        String longName = "/run/" + "x".repeat(110);
        assertThat(of(examine("rdma: {loopback: {socket: " + longName + "}}\n"), "loopback")
                .found()).contains("longer than 107");
    }

    @Test
    void aConfigurationThatCannotBeReadIsTheFirstThingToMend() throws IOException {
        List<Finding> findings = examine("cahce: {}\n");
        assertThat(findings.getFirst().mark()).isEqualTo(Mark.FAIL);
        assertThat(findings.getFirst().found()).contains("cahce: unknown key");
        assertThat(findings).hasSizeGreaterThan(5);
    }

    @Test
    void theReportIsAlignedAndPlainUnlessATerminalShowsIt() throws IOException {
        limits("unlimited", "600");
        StringWriter text = new StringWriter();
        DoctorReport report = new DoctorReport(examine(""));
        report.print(new PrintWriter(text, true), Ansi.OFF);

        assertThat(text.toString()).doesNotContain("\u001b")
                .contains("ok    configuration  ", "fail  descriptors    600 may be open",
                        "\n                     why:  each connection",
                        "\n                     mend: LimitNOFILE=", "1 to mend, 0 to look at.");
        StringWriter coloured = new StringWriter();
        report.print(new PrintWriter(coloured, true), Ansi.ON);
        assertThat(coloured.toString()).contains("\u001b[31m");
    }

    @Test
    void theReportForProgramsSaysAllOfIt() throws IOException {
        JsonNode json = new ObjectMapper()
                .readTree(new DoctorReport(examine(VERBS)).toJson());
        assertThat(json.path("fine").booleanValue()).isFalse();
        assertThat(json.path("findings").findValuesAsText("subject")).contains("devices");
        json.path("findings").forEach(finding -> {
            assertThat(finding.path("why").textValue()).isNotBlank();
            assertThat(finding.path("mend").textValue().isEmpty())
                    .isEqualTo(finding.path("mark").textValue().equals("ok"));
        });
    }
}
