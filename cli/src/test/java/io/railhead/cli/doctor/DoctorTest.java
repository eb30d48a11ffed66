package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.MachineFolder.LINK_LOCAL;
import static io.railhead.cli.doctor.MachineFolder.MAPPED;
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

    @TempDir
    Path root;

    private final Set<String> libraries = new HashSet<>(
            List.of("libibverbs.so.1", "librdmacm.so.1"));
    private final Set<Path> denied = new HashSet<>();

    private MachineFolder machine;

    @BeforeEach
    void roomyMachine() throws IOException {
        machine = new MachineFolder(root);
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
        machine.write("etc/railhead/credentials.yaml", "");
        machine.write("etc/railhead/railhead.yaml", """
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
        machine.roce("9000");
        List<Finding> findings = examine(VERBS);

        assertThat(subjects(findings, Mark.OK)).as("%s", findings).hasSameSizeAs(findings);
        assertThat(of(findings, "address").found()).isEqualTo(
                "10.99.0.1 on mlx5_0/1, GID 3, rocev2, eth0; 2 link-local passed over");
        assertThat(of(findings, "provider").found()).isEqualTo("mlx5, for mlx5_0");
    }

    @Test
    void aSmallInterfaceMtuIsPointedOutAndATooLargeOneFails() throws IOException {
        machine.roce("1500");
        Finding small = of(examine(VERBS), "mtu");
        assertThat(small.mark()).isEqualTo(Mark.WARN);
        assertThat(small.found()).isEqualTo("eth0 has 1500, so RDMA 1024");
        assertThat(small.mend()).contains("ip link set eth0 mtu 4200");

        assertThat(of(examine("rdma: {verbs: {enabled: true, mtu: 4096}}\n"), "mtu").mark())
                .isEqualTo(Mark.FAIL);
    }

    @Test
    void addressesThatAllAreLinkLocalOrOfAnotherTypeFail() throws IOException {
        machine.roce("9000");
        Files.delete(root.resolve("sys/class/infiniband/mlx5_0/ports/1/gids/3"));
        Finding none = of(examine(VERBS), "address");
        assertThat(none.mark()).isEqualTo(Mark.FAIL);
        assertThat(none.mend()).contains("ip address add", "rdma.gid_type");

        assertThat(of(examine("rdma: {gid_type: rocev1, verbs: {enabled: true}}\n"), "address")
                .found()).contains("GID 2, rocev1");
    }

    @Test
    void anInfinibandPortWaitsForItsSubnetManager() throws IOException {
        machine.device("mlx5_0", "1: CA", "mlx5_core");
        machine.port("mlx5_0", "2: INIT", "InfiniBand");
        machine.gid("mlx5_0", 0, LINK_LOCAL, "IB/RoCE v1", "");
        machine.write("usr/lib64/libibverbs/libmlx5-rdmav34.so", "");
        machine.nodes();
        String ib = "rdma: {gid_type: ib, verbs: {enabled: true}}\n";

        Finding waiting = of(examine(ib), "mlx5_0/1");
        assertThat(waiting.mark()).isEqualTo(Mark.FAIL);
        assertThat(waiting.mend()).contains("subnet manager");

        machine.port("mlx5_0", "4: ACTIVE", "InfiniBand");
        List<Finding> findings = examine(ib);
        assertThat(isFine(findings)).as("%s", findings).isTrue();
        assertThat(of(findings, "address").found()).contains("mlx5_0/1, GID 0, ib");
        assertThat(of(examine(VERBS), "address").mark()).isEqualTo(Mark.FAIL);
    }

    @Test
    void iwarpIsRefusedWithItsReason() throws IOException {
        machine.device("siw0", "4: RNIC", "siw");
        machine.port("siw0", "4: ACTIVE", "Ethernet");
        machine.gid("siw0", 0, MAPPED, "IB/RoCE v1", "eth0");
        machine.nodes();
        Finding refused = of(examine(VERBS), "siw0");
        assertThat(refused.mark()).isEqualTo(Mark.FAIL);
        assertThat(refused.found()).contains("iWARP");
        assertThat(refused.why()).contains("does not mean that the bytes are placed");
    }

    @Test
    void softRoceHasAProviderOfItsOwn() throws IOException {
        machine.roce("4200");
        machine.write("sys/class/infiniband/mlx5_0/parent", "eth0\n");
        assertThat(of(examine(VERBS), "provider").found())
                .isEqualTo("rxe, for mlx5_0, is not installed");
        machine.write("usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so", "");
        assertThat(of(examine(VERBS), "provider").mark()).isEqualTo(Mark.OK);
    }

    @Test
    void aContainerWithoutItsDevicesIsToldHowToGetThem() throws IOException {
        machine.roce("9000");
        machine.limits("8388608", "1048576");
        Files.delete(root.resolve("dev/infiniband/uverbs0"));
        Files.delete(root.resolve("dev/infiniband/rdma_cm"));
        machine.write("var/run/secrets/kubernetes.io/token", "");
        List<Finding> findings = examine(VERBS);

        assertThat(subjects(findings, Mark.FAIL)).containsExactly("memlock", "uverbs", "rdma_cm");
        assertThat(of(findings, "uverbs").mend()).contains("--device /dev/infiniband");
        assertThat(of(findings, "rdma_cm").found()).contains("rdma_ucm is not loaded");
        assertThat(of(findings, "memlock").mend()).contains("IPC_LOCK");
        assertThat(of(findings, "container").found()).isEqualTo("a Kubernetes pod");
    }

    @Test
    void deviceFilesThatThisUserMayNotOpenFail() throws IOException {
        machine.roce("9000");
        denied.add(root.resolve("dev/infiniband/rdma_cm"));
        denied.add(root.resolve("dev/infiniband/uverbs0"));
        assertThat(subjects(examine(VERBS), Mark.FAIL)).containsExactly("uverbs", "rdma_cm");
        assertThat(subjects(examine("cache: {memory: 1GiB}\n"), Mark.WARN))
                .containsExactly("verbs", "uverbs", "rdma_cm");
    }

    @Test
    void eachAdapterPinsTheCacheOnceMore() throws IOException {
        machine.roce("9000");
        machine.limits("4294967296", "1048576");
        assertThat(of(examine(VERBS), "memlock").mark()).isEqualTo(Mark.OK);

        machine.device("mlx5_1", "1: CA", "mlx5_core");
        machine.port("mlx5_1", "4: ACTIVE", "Ethernet");
        machine.gid("mlx5_1", 0, "0000:0000:0000:0000:0000:ffff:0a63:0002", "RoCE v2", "eth0");
        Finding two = of(examine(VERBS), "memlock");
        assertThat(two.mark()).isEqualTo(Mark.FAIL);
        assertThat(two.found()).isEqualTo("4 GiB may be pinned, 8 GiB will be");
        assertThat(two.mend()).contains("LimitMEMLOCK=infinity");

        machine.write("proc/self/status", "CapEff:\t0000000000004000\n");
        assertThat(of(examine(VERBS), "memlock").mark()).isEqualTo(Mark.OK);
    }

    @Test
    void pinningByConfigurationAloneNeedsTheRightToo() throws IOException {
        machine.limits("8388608", "1048576");
        assertThat(of(examine("cache: {lock: false}\n"), "memlock").mark()).isEqualTo(Mark.OK);
        assertThat(of(examine("cache: {lock: true}\n"), "memlock").mark()).isEqualTo(Mark.FAIL);
    }

    @Test
    void tooLittleMemoryAndTooFewDescriptorsFail() throws IOException {
        machine.write("proc/meminfo", "MemAvailable: 1048576 kB\n");
        machine.limits("unlimited", "600");
        assertThat(subjects(examine(""), Mark.FAIL)).containsExactly("memory", "descriptors");
        machine.limits("unlimited", "1024");
        assertThat(of(examine(""), "descriptors").mark()).isEqualTo(Mark.WARN);
        assertThat(of(examine(""), "descriptors").mend()).contains("LimitNOFILE=65536");
    }

    @Test
    void hugePagesAreCounted() throws IOException {
        machine.write("proc/meminfo", """
                MemAvailable:   67108864 kB
                HugePages_Total:     100
                HugePages_Free:       90
                Hugepagesize:       2048 kB
                """);
        Finding few = of(examine(""), "huge pages");
        assertThat(few.mark()).isEqualTo(Mark.WARN);
        assertThat(few.mend()).isEqualTo("sysctl -w vm.nr_hugepages=2058");

        machine.write("proc/meminfo", "MemAvailable: 67108864 kB\nHugepagesize: 2048 kB\n");
        machine.write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
        assertThat(of(examine(""), "huge pages").mend()).startsWith("echo madvise > ");
    }

    private void reserved(String size, int free) throws IOException {
        String pool = "sys/kernel/mm/hugepages/hugepages-" + size + "/";
        machine.write(pool + "nr_hugepages", "512\n");
        machine.write(pool + "free_hugepages", free + "\n");
        machine.write(pool + "resv_hugepages", "0\n");
    }

    @Test
    void aCacheOfReservedPagesNeedsThoseAndNothingElse() throws IOException {
        machine.write("proc/meminfo", "MemAvailable: 41943040 kB\nHugePages_Total: 0\n");
        String cache = "cache: {memory: 512GiB, huge_pages: 1GiB}\n";
        reserved("1048576kB", 512);
        assertThat(subjects(examine(cache), Mark.FAIL)).isEmpty();

        reserved("1048576kB", 500);
        reserved("2048kB", 1_000_000);
        assertThat(subjects(examine(cache), Mark.FAIL)).containsExactly("huge pages");
        Finding few = of(examine(cache), "huge pages");
        assertThat(few.found()).startsWith("500 of 512 reserved pages of 1GiB are free");
        assertThat(few.mend()).endsWith("hugepagesz=1G hugepages=524");
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
        assertThat(of(examine("rdma: {loopback: {socket: " + longName + "}}\n"), "configuration")
                .found()).contains("rdma.loopback.socket: must be at most");
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
        machine.limits("unlimited", "600");
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

    /** Two nodes, the adapter on the second. */
    private void twoNodes(String allowedCpus, String allowedNodes) throws IOException {
        machine.roce("9000");
        machine.write("sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
        machine.write("sys/devices/system/node/node0/cpulist", "0-15\n");
        machine.write("sys/devices/system/node/node1/cpulist", "16-31\n");
        machine.write("sys/devices/system/node/node1/meminfo",
                "Node 1 MemTotal: 67108864 kB\nNode 1 MemFree:  33554432 kB\n");
        machine.write("proc/self/status", "CapEff:\t0000000000000000\nCpus_allowed_list:\t"
                + allowedCpus + "\nMems_allowed_list:\t" + allowedNodes + "\n");
    }

    @Test
    void processorsOnTheOtherSideOfTheMachineArePointedOut() throws IOException {
        twoNodes("0-7", "0-1");
        Finding far = of(examine(VERBS), "numa");
        assertThat(far.mark()).isEqualTo(Mark.WARN);
        assertThat(far.found()).contains("node 1 with CPUs 16-31", "0-7 only");
        assertThat(far.mend()).contains("CPUAffinity=16-31", "--cpunodebind=1");

        twoNodes("8-19,40", "0-1");
        assertThat(of(examine(VERBS), "numa").mark()).isEqualTo(Mark.OK);
        twoNodes("0-31", "0");
        assertThat(of(examine(VERBS), "numa").found()).contains("memory of node 0 only");
        twoNodes("0-31", "0-1");
        assertThat(of(examine("cache: {memory: 60GiB}\n"), "numa").found())
                .contains("32 GiB free for a cache of 60 GiB");
    }

    private void counter(String file, long count) throws IOException {
        machine.write("sys/class/infiniband/mlx5_0/ports/1/" + file, count + "\n");
    }

    @Test
    void lossesDamageAndRefusedPeersAreToldApart() throws IOException {
        machine.roce("9000");
        counter("hw_counters/np_cnp_sent", 12);
        counter("counters/symbol_error", 0);
        List<Finding> quiet = examine(VERBS);
        assertThat(of(quiet, "loss").found()).contains("no lost packet", "np_cnp_sent 12");
        assertThat(subjects(quiet, Mark.OK)).contains("loss", "link errors", "remote access",
                "ecn and pfc");
        assertThat(of(quiet, "link errors").found()).isEqualTo("mlx5_0/1 has counted none");
        assertThat(of(quiet, "remote access").found()).isEqualTo("mlx5_0/1 does not count them");
        assertThat(of(quiet, "ecn and pfc").found()).contains("mlnx_qos -i eth0");

        counter("hw_counters/out_of_sequence", 70);
        counter("counters/symbol_error", 3);
        counter("hw_counters/resp_remote_access_errors", 1);
        List<Finding> bad = examine(VERBS);
        assertThat(subjects(bad, Mark.WARN)).containsExactly("loss", "link errors",
                "remote access");
        assertThat(of(bad, "loss").mend()).contains("rdma.verbs.traffic_class");
        assertThat(of(bad, "link errors").mend()).contains("cable");

        counter("counters/port_xmit_data", 1L << 40);
        assertThat(of(examine(VERBS), "loss").mark()).as("so few are not felt")
                .isEqualTo(Mark.OK);
    }

    @Test
    void adaptersThatDoNotReactToMarksAreTurnedOn() throws IOException {
        machine.roce("9000");
        counter("hw_counters/np_cnp_sent", 0);
        machine.write("sys/class/net/eth0/ecn/roce_np/enable/3", "1\n");
        machine.write("sys/class/net/eth0/ecn/roce_rp/enable/3", "0\n");
        Finding half = of(examine(VERBS), "ecn and pfc");
        assertThat(half.mark()).isEqualTo(Mark.WARN);
        assertThat(half.found()).isEqualTo(
                "mlx5_0/1 notifies of marks on priorities 3, slows down on none");
        assertThat(half.mend()).contains("echo 1 > /sys/class/net/eth0/ecn/roce_rp/enable/3");

        machine.write("sys/class/net/eth0/ecn/roce_rp/enable/3", "1\n");
        assertThat(of(examine(VERBS), "ecn and pfc").mark()).isEqualTo(Mark.OK);
    }
}
