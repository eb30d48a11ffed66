package io.railhead.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.marcnuri.helm.Helm;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import io.railhead.cache.disk.DiskMemory;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the chart makes of values, with Helm itself. */
class ChartTest {
    /**
     * To write the golden files anew: {@code -Drailhead.golden=write}; then read what has changed.
     */
    private static final boolean WRITE_GOLDEN = "write"
            .equals(System.getProperty("railhead.golden"));
    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    private static final Map<String, Class<?>> TYPES = Map.ofEntries(
            Map.entry("ConfigMap", ConfigMap.class), Map.entry("DaemonSet", DaemonSet.class),
            Map.entry("NetworkPolicy", NetworkPolicy.class),
            Map.entry("PersistentVolumeClaim", PersistentVolumeClaim.class),
            Map.entry("Pod", Pod.class),
            Map.entry("PodDisruptionBudget", PodDisruptionBudget.class),
            Map.entry("PrometheusRule", PrometheusRule.class), Map.entry("Secret", Secret.class),
            Map.entry("Service", Service.class), Map.entry("ServiceAccount", ServiceAccount.class),
            Map.entry("ServiceMonitor", ServiceMonitor.class),
            Map.entry("StatefulSet", StatefulSet.class));
    /** Of cert-manager; the golden file alone holds it. */
    private static final String UNTYPED = "Certificate";

    /**
     * The types keep fields that they do not know; here such a field is an error that names its
     * path.
     */
    private static final ObjectMapper STRICT = JsonMapper.builder()
            .annotationIntrospector(new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                    return Boolean.FALSE;
                }
            })
            .build();

    @TempDir
    private Path folder;

    static List<Path> examples() {
        return Chart.examples();
    }

    @Test
    void lintFindsNothing() {
        assertThat(new Helm(Chart.FOLDER).lint().strict().call())
                .matches(result -> !result.isFailed(), "not failed");
    }

    @ParameterizedTest
    @MethodSource("examples")
    void rendersWhatWasReadOnce(Path values) throws IOException {
        Path golden = GOLDEN.resolve(values.getFileName().toString().replace("-values", ""));
        String rendered = new Chart(values).render();
        if (WRITE_GOLDEN) {
            Files.writeString(golden, rendered);
        }
        assertThat(rendered).isEqualTo(Files.readString(golden));
    }

    @ParameterizedTest
    @MethodSource("examples")
    void kubernetesKnowsEachField(Path values) {
        for (JsonNode document : new Chart(values).documents()) {
            String kind = document.path("kind").asText();
            if (!kind.equals(UNTYPED)) {
                assertThat(TYPES).containsKey(kind);
                assertThat(STRICT.convertValue(document, TYPES.get(kind))).isNotNull();
            }
        }
    }

    @Test
    void aFieldThatKubernetesDoesNotKnowWouldBeFound() {
        JsonNode pod = Chart.of("laptop").document("Pod").deepCopy();
        ((ObjectNode) pod.path("spec")).put("containerz", 1);
        assertThatThrownBy(() -> STRICT.convertValue(pod, Pod.class))
                .hasMessageContaining("containerz");
    }

    @ParameterizedTest
    @MethodSource("examples")
    void theGatewayTakesItsConfiguration(Path values) throws Exception {
        Chart chart = new Chart(values);
        JsonNode data = chart.document("ConfigMap").path("data");
        JsonNode parsed = Chart.YAML.readTree(data.path("railhead.yaml").asText());
        GatewayConfig config = ConfigLoader.load(mounted(folder, data));
        assertThat(config.cache().memory().bytes() >> 20)
                .isEqualTo(
                        Chart.YAML.readTree(values.toFile()).at("/memoryMiB/cache").asLong(4096));
        assertThat(parsed.at("/gateway/drain").asText()).isEqualTo("30s");
        requireRoomForTheIndex(chart, config);
        long graceSeconds = chart.pod().path("terminationGracePeriodSeconds").asLong();
        assertThat(graceSeconds).isGreaterThan(2 * config.gateway().drain().toSeconds() + 5);
    }

    /** The kernel would kill a pod whose limit leaves the disk tier's index out. */
    private static void requireRoomForTheIndex(Chart chart, GatewayConfig config)
            throws IOException {
        JsonNode values = Chart.YAML.readTree(chart.values().toFile()).path("memoryMiB");
        String limit = chart.pod().at("/containers/0/resources/limits/memory").asText();
        String options = chart.pod().at("/containers/0/env/0/value").asText();
        long heap = Long.parseLong(options.replaceAll(".*-Xmx(\\d+)m.*", "$1"));
        DiskMemory disk = config.cache().diskMemory();
        long cache = chart.render().contains("hugepages-") ? 0 : values.path("cache").asLong(4096);
        long index = Long.parseLong(limit.replace("Mi", "")) - cache - heap
                - values.path("other").asLong(1024);
        assertThat(index << 20).isBetween(disk.indexBytes(),
                disk.indexBytes() + disk.indexBytes() / 50 + (2 << 20));
        assertThat((heap - values.path("heap").asLong(1024)) << 20)
                .isBetween(disk.heapBytes(), disk.heapBytes() + (2 << 20));
    }

    @Test
    void eachPodHasClaimsOfItsOwnForRawDevices() {
        Chart chart = Chart.of("disk");
        JsonNode set = chart.document("StatefulSet");
        assertThat(set.at("/spec/volumeClaimTemplates")).hasSize(2);
        JsonNode claim = set.at("/spec/volumeClaimTemplates/1/spec");
        assertThat(claim.path("volumeMode").asText()).isEqualTo("Block");
        assertThat(claim.at("/resources/requests/storage").asText()).isEqualTo("3500Gi");
        assertThat(claim.path("storageClassName").asText()).isEqualTo("local-nvme");
        JsonNode container = chart.pod().at("/containers/0");
        assertThat(container.at("/volumeDevices/1/devicePath").asText())
                .isEqualTo("/dev/railhead1");
        assertThat(chart.pod().at("/securityContext/supplementalGroups/0").asInt()).isEqualTo(6);
        assertThat(chart.document("ConfigMap").at("/data/railhead.yaml").asText())
                .contains("- /dev/railhead0", "size: 3500GiB", "writes_per_day: 0.8");
    }

    /** Claims of a StatefulSet cannot be changed: an upgrade or rollback would be refused. */
    @Test
    void aRollbackToAVersionWithoutTheTierIsAnotherStatefulSet() throws IOException {
        JsonNode with = with("laptop", "disk: {sizeGiB: 10}").document("StatefulSet");
        JsonNode without = Chart.of("laptop").document("StatefulSet");
        assertThat(with.at("/metadata/name").asText()).isEqualTo("rack1-railhead-disk");
        assertThat(without.at("/metadata/name").asText()).isEqualTo("rack1-railhead");
        assertThat(without.path("spec").has("volumeClaimTemplates")).isFalse();
        assertThat(with.at("/spec/selector")).isEqualTo(without.at("/spec/selector"));
        assertThat(with.at("/spec/volumeClaimTemplates/0/spec/resources/requests/storage")
                .asText()).isEqualTo("12Gi");
        String longest = with("laptop",
                "{disk: {sizeGiB: 10}, fullnameOverride: " + "x".repeat(60) + "}")
                .document("StatefulSet")
                .at("/metadata/name")
                .asText();
        assertThat(longest).hasSize(52).endsWith("x-disk");
    }

    @Test
    void aNodesFoldersAreGivenToTheGateway() {
        JsonNode pod = Chart.of("disk-daemonset").pod();
        assertThat(pod.at("/initContainers/0/command").toString())
                .contains("/run/railhead", "/var/lib/railhead/disk0", "/var/lib/railhead/disk1");
        assertThat(pod.path("volumes").findValuesAsText("path")).contains("/mnt/nvme1/railhead");
        assertThat(pod.at("/containers/0/volumeMounts").toString())
                .contains("/var/lib/railhead/disk1");
    }

    @Test
    void theLogOfWritesIsInAClaimThatIsKept() throws Exception {
        Chart chart = Chart.of("write-back");
        JsonNode claim = chart.document("PersistentVolumeClaim");
        assertThat(claim.at("/metadata/annotations/helm.sh~1resource-policy").asText())
                .isEqualTo("keep");
        assertThat(claim.at("/spec/resources/requests/storage").asText()).isEqualTo("441Gi");
        assertThat(claim.at("/spec/storageClassName").asText()).isEqualTo("local-nvme");
        String name = claim.at("/metadata/name").asText();
        assertThat(chart.pod().path("volumes").findValuesAsText("claimName"))
                .containsExactly(name);
        var settings = ConfigLoader.load(mounted(folder, chart.document("ConfigMap").path("data")))
                .writeBack();
        assertThat(settings).isNotNull();
        assertThat(settings.path()).isEqualTo(folder.resolve("write-back/log").toString());
        assertThat(settings.size().bytes()).isEqualTo(400L << 30);
        assertThat(with("write-back", "disk: {sizeGiB: 10}").document("PersistentVolumeClaim")
                .at("/metadata/name")
                .asText()).as("of a workload with another name").isEqualTo(name);
    }

    @Test
    void aPodThatEndsWaitsForPendingWritesWithinItsGrace() throws IOException {
        JsonNode plain = with("write-back", "writeBack: {sizeGiB: 1, flushSeconds: 0}").pod();
        JsonNode pod = Chart.of("write-back").pod();
        String grace = "terminationGracePeriodSeconds";
        assertThat(pod.path(grace).asInt() - plain.path(grace).asInt()).isEqualTo(120);
        assertThat(pod.at("/containers/0/lifecycle/preStop/exec/command/2").asText())
                .startsWith("sleep 5; ")
                .contains("; busybox timeout 120 sh", "$(busybox timeout 3 busybox wget ")
                .doesNotContainPattern("(?<!busybox )(timeout|wget) ");
        assertThat(plain.at("/containers/0/lifecycle/preStop/exec/command/0").asText())
                .isEqualTo("sleep");
        JsonNode overTls = with("write-back", "healthTls: {existingSecret: health}").pod();
        assertThat(overTls.at("/containers/0/lifecycle/preStop/exec/command").toString())
                .isEqualTo("[\"sleep\",\"5\"]");
        assertThat(overTls.path(grace)).isEqualTo(plain.path(grace));
    }

    private static List<JsonNode> askingForPending(Chart chart) {
        return chart.documents()
                .stream()
                .filter(each -> each.at("/metadata/name").asText().endsWith("-pending"))
                .toList();
    }

    @Test
    void anUninstallAsksForPendingWritesFirst() throws IOException {
        JsonNode asking = askingForPending(Chart.of("write-back")).getFirst();
        assertThat(asking.at("/metadata/annotations/helm.sh~1hook").asText())
                .isEqualTo("pre-delete");
        assertThat(asking.at("/spec/restartPolicy").asText()).isEqualTo("Never");
        assertThat(asking.at("/spec/containers/0/command/2").asText())
                .contains("http://rack1-railhead-headless:9901/metrics")
                .doesNotContainPattern("(?<!busybox )(timeout|wget) ");
        String values = "writeBack: {sizeGiB: 1, refuseUninstall: false}";
        assertThat(askingForPending(with("write-back", values))).isEmpty();
        assertThat(askingForPending(Chart.of("laptop"))).isEmpty();
        assertThat(askingForPending(with("write-back", "healthTls: {existingSecret: health}")))
                .as("nothing in the image can ask")
                .isEmpty();
        assertThat(with("write-back", "networkPolicy: {enabled: true, monitoring: [{podSelector:"
                + " {matchLabels: {app: prometheus}}}]}").document("NetworkPolicy").toString())
                .contains("{\"railhead.io/asks-for-pending\":\"rack1-railhead\"}");
    }

    @Test
    void theQuestionBeforeAnUninstallGoesToTheNodesOfTheGateway() throws IOException {
        Chart chart = with("write-back", "nodeSelector: {pool: storage}\ntolerations: [{key: rdma,"
                + " operator: Exists}]");
        JsonNode asking = askingForPending(chart).getFirst().path("spec");
        assertThat(asking.at("/nodeSelector/pool").asText()).isEqualTo("storage");
        assertThat(asking.path("nodeSelector")).isEqualTo(chart.pod().path("nodeSelector"));
        assertThat(asking.at("/tolerations/0/key").asText()).isEqualTo("rdma");
    }

    /** A shell of this machine, and a stand-in for busybox whose wget is the gateway. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            railhead_write_back_pending 0; railhead_write_back_uploads 0     | 0 | 1
            railhead_write_back_pending 0.0; railhead_write_back_uploads 0.0 | 0 | 1
            railhead_write_back_pending 10; railhead_write_back_uploads 0    | 1 | 1
            railhead_write_back_pending 0; railhead_write_back_uploads 10    | 1 | 1
            other 0                                                          | 1 | 3
            """)
    void anUninstallIsRefusedUnlessTheGatewaySaysThatNothingIsPending(String answer, int status,
            int questions) throws Exception {
        Path asked = Files.writeString(folder.resolve("asked"), "");
        program("sleep", "exit 0");
        program("busybox", """
                case $1 in timeout) shift 2; exec "$@";; esac
                echo asked >> %s
                echo '%s'
                """.formatted(asked, answer.replace("; ", "\n")));
        JsonNode command = askingForPending(Chart.of("write-back")).getFirst()
                .at("/spec/containers/0/command/2");
        var shell = new ProcessBuilder("sh", "-c", command.asText());
        shell.environment().put("PATH", folder + ":" + System.getenv("PATH"));
        Process ended = shell.redirectErrorStream(true).start();
        String said = new String(ended.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(ended.waitFor()).as(said).isEqualTo(status);
        assertThat(Files.readAllLines(asked)).hasSize(questions);
        assertThat(said.contains("--no-hooks")).isEqualTo(status == 1);
    }

    /** A shell of this machine, and a stand-in for busybox whose wget is the gateway. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            railhead_write_back_pending 0   | 1
            railhead_write_back_pending 0.0 | 1
            railhead_write_back_pending 10  | 6
            other 0                         | 3
            """)
    void aPodThatEndsWaitsForAGatewayThatAnswers(String answer, int questions) throws Exception {
        Path asked = Files.writeString(folder.resolve("asked"), "");
        program("sleep", "exit 0");
        program("busybox",
                """
                        case $1 in timeout) shift 2; exec "$@";; esac
                        echo asked >> %s
                        if [ $(wc -l < %s) -ge 6 ]; then echo railhead_write_back_pending 0; else echo '%s'; fi
                        """
                        .formatted(asked, asked, answer));
        JsonNode command = Chart.of("write-back")
                .pod()
                .at("/containers/0/lifecycle/preStop/exec/command");
        var shell = new ProcessBuilder("sh", "-c", command.path(2).asText());
        shell.environment().put("PATH", folder + ":" + System.getenv("PATH"));
        assertThat(shell.start().waitFor()).isZero();
        assertThat(Files.readAllLines(asked)).hasSize(questions);
    }

    private void program(String name, String script) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + script);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"disk", "disk-daemonset"})
    void pagesAreNeverKeptInAnEmptyDir(String example) {
        Chart.of(example).pod().path("volumes").forEach(volume -> {
            if (volume.path("name").asText().startsWith("disk")) {
                assertThat(volume.has("emptyDir")).isFalse();
            }
        });
    }

    /**
     * The files of /etc/railhead and the others that the configuration names, in a folder of a
     * test's own.
     */
    static Path mounted(Path folder, JsonNode data) throws IOException {
        String yaml = data.path("railhead.yaml").asText();
        for (String at : List.of("/etc/railhead-tls", "/etc/railhead-health-tls",
                "/etc/railhead-admin-tls", "/etc/railhead-audit-tls", "/etc/railhead-cluster",
                "/etc/railhead-members-tls", "/etc/railhead", "/etc/store-ca", "/run/railhead",
                "/var/lib/railhead")) {
            yaml = yaml.replace(at + "/", folder + "/");
        }
        for (String each : List.of("disk0", "disk1", "write-back")) {
            Files.createDirectories(folder.resolve(each));
        }
        for (String name : List.of("credentials.yaml", "tls.crt", "tls.key", "client-ca.crt",
                "ca.pem", "session.keys", "ca.crt", "token")) {
            Files.writeString(folder.resolve(name), "");
        }
        if (data.has("policy.json")) {
            Files.writeString(folder.resolve("policy.json"), data.path("policy.json").asText());
        }
        return Files.writeString(folder.resolve("railhead.yaml"), yaml);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void thePodMayDoNothingButPinMemoryWhereItHasTo(Path values) {
        JsonNode pod = new Chart(values).pod();
        JsonNode container = pod.at("/containers/0/securityContext");
        boolean pins = Set.of("rack-roce-values.yaml", "infiniband-values.yaml")
                .contains(values.getFileName().toString());
        assertThat(container.at("/capabilities/add").toString())
                .isEqualTo(pins ? "[\"IPC_LOCK\"]" : "");
        assertThat(container.at("/capabilities/drop").toString()).isEqualTo("[\"ALL\"]");
        assertThat(container.path("readOnlyRootFilesystem").asBoolean()).isTrue();
        assertThat(container.path("allowPrivilegeEscalation").asBoolean(true)).isFalse();
        assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
        assertThat(pod.path("automountServiceAccountToken").asBoolean(true)).isFalse();
    }

    @Test
    void whoLocksTheCacheOrTakesHugePagesMayPinMemory() throws IOException {
        String store = "backends: {s: {endpoints: [\"http://s\"]}}";
        for (String values : List.of("config: {cache: {lock: true}, " + store + "}",
                "hugePages: 2Mi", "network: {rdmaResource: rdma/a}\nconfig: {rdma: {verbs: "
                        + "{enabled: true}}, " + store + "}")) {
            assertThat(with("laptop", values).pod()
                    .at("/containers/0/securityContext/capabilities/add/0")
                    .asText()).as(values).isEqualTo("IPC_LOCK");
        }
    }

    @Test
    void aPodWithAnAdapterAsksForItInRequestsAndLimits() {
        JsonNode resources = Chart.of("rack-roce").pod().at("/containers/0/resources");
        for (String each : List.of("requests", "limits")) {
            assertThat(resources.path(each).path("openshift.io/rail0").asInt()).isEqualTo(1);
            assertThat(resources.path(each).path("memory").asText())
                    .isEqualTo(8192 + 8192 + "Mi");
        }
    }

    @Test
    void hugePagesAreAskedForBesideTheMemory() {
        JsonNode resources = Chart.of("rack-roce").pod().at("/containers/0/resources");
        for (String each : List.of("requests", "limits")) {
            assertThat(resources.path(each).path("hugepages-1Gi").asText()).isEqualTo("524288Mi");
        }
        assertThat(Chart.of("rack-roce").document("ConfigMap").toString())
                .contains("huge_pages: 1GiB");
        assertThat(Chart.of("infiniband").render()).doesNotContain("hugepages", "huge_pages");
    }

    @Test
    void onTheNodesNetworkNamesAreStillTheClusters() {
        JsonNode pod = Chart.of("infiniband").pod();
        assertThat(pod.path("hostNetwork").asBoolean()).isTrue();
        assertThat(pod.path("dnsPolicy").asText()).isEqualTo("ClusterFirstWithHostNet");
    }

    @Test
    void passThroughHoldsNoSecret() {
        assertThat(Chart.of("pass-through").render()).doesNotContain("kind: Secret", "secretName",
                "secret:");
    }

    /** A changed policy is read by the gateway; only a changed configuration restarts the pod. */
    @Test
    void aChangedPolicyRestartsNothing() throws IOException {
        String before = annotations(with("multi-tenant", ""));
        String after = annotations(
                with("multi-tenant", "policy: {Version: \"2012-10-17\", Statement: []}\n"));
        String other = annotations(with("multi-tenant", "drainSeconds: 31\n"));
        assertThat(after).isEqualTo(before).isNotEqualTo(other);
    }

    /** Reloadable keys reach the gateway by the volume; other keys restart the pod. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            backends: {s: {endpoints: ["http://t"]}}                  | false
            rules: [{freshness: immutable}]                           | false
            gateway: {admission: {requests: 7}}                       | false
            tracing: {endpoint: "http://c:4318"}                      | false
            log: {level: debug}                                       | false
            accounting: {prices: {get_per_1000: 7}}                   | false
            accounting: {rows: 70}                                    | true
            log: {format: text}                                       | true
            gateway: {idle_timeout: 7s}                               | true
            cache: {metadata_entries: 7}                              | true
            rdma: {token_age: 7s}                                     | true
            """)
    void onlyAKeyThatNeedsARestartRestartsThePod(String config, boolean restarts)
            throws IOException {
        String plain = "{backends: {s: {endpoints: [\"http://s\"]}},"
                + " accounting: {prices: {get_per_1000: 1}}}";
        var changed = (ObjectNode) Chart.YAML.readTree(plain);
        Chart.YAML.readTree(config)
                .properties()
                .forEach(each -> changed.set(each.getKey(), each.getValue()));
        String before = annotations(with("laptop", "config: " + plain));
        String after = annotations(with("laptop", "config: " + changed));
        assertThat(!after.equals(before)).isEqualTo(restarts);
    }

    /** Helm's {@code --set KEY=null} deletes a default, which templates must not need. */
    @ParameterizedTest
    @ValueSource(strings = {"principals", "roles", "revoked"})
    void aListOfCredentialsMayBeNull(String list) throws IOException {
        Chart chart = with("laptop", "credentials: {existingSecret: keys, " + list + ": null}");
        assertThat(chart.document("StatefulSet").toString()).contains("\"keys\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"env", "tolerations", "topologySpreadConstraints", "extraVolumes",
            "extraVolumeMounts"})
    void aListMayBeNull(String list) throws IOException {
        assertThat(with("laptop", list + ": null").document("StatefulSet").isMissingNode())
                .isFalse();
    }

    @Test
    void theJvmsOptionsAreNamedOnceAndNeverLoseTheHeap() throws IOException {
        JsonNode env = with("laptop", """
                env:
                  - {name: TZ, value: UTC}
                  - {name: RAILHEAD_JAVA_OPTIONS, value: -Dhere=true}
                memoryMiB: {cache: 128, heap: 300, other: 500}
                """).document("StatefulSet").at("/spec/template/spec/containers/0/env");
        assertThat(env.toString()).isEqualTo("[{\"name\":\"RAILHEAD_JAVA_OPTIONS\",\"value\":"
                + "\"-Dhere=true -Xmx300m -XX:MaxDirectMemorySize=244m\"},"
                + "{\"name\":\"TZ\",\"value\":\"UTC\"}]");
    }

    /**
     * The JVM announces the options of JDK_JAVA_OPTIONS and JAVA_TOOL_OPTIONS in a line of text.
     */
    @ParameterizedTest
    @MethodSource("examples")
    void noVariableMakesTheJvmWriteWhatIsNoJson(Path values) {
        assertThat(new Chart(values).pod().at("/containers/0/env").findValuesAsText("name"))
                .contains("RAILHEAD_JAVA_OPTIONS")
                .doesNotContain("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS");
    }

    /**
     * {@code helm test --logs} reads the pod's log after the hook's end, and deletes nothing
     * itself.
     */
    @Test
    void theTestsPodIsThereForItsLogToBeRead() {
        assertThat(Chart.of("laptop")
                .document("Pod")
                .at("/metadata/annotations/helm.sh~1hook-delete-policy")
                .asText()).isEqualTo("before-hook-creation");
    }

    private static String annotations(Chart chart) {
        return chart.document("StatefulSet").at("/spec/template/metadata/annotations").toString();
    }

    /** An example with some values of another file over it, key by key of the top level. */
    private Chart with(String example, String values) throws IOException {
        var merged = (ObjectNode) Chart.YAML
                .readTree(Chart.of(example).values().toFile());
        if (!values.isEmpty()) {
            Chart.YAML.readTree(values)
                    .properties()
                    .forEach(each -> merged.set(each.getKey(), each.getValue()));
        }
        Path file = folder.resolve("merged.yaml");
        Chart.YAML.writeValue(file.toFile(), merged);
        return new Chart(file);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            laptop       | replicas: 0                                                  | replicas
            laptop       | replicaz: 2                                                  | replicaz
            laptop       | cpu: {request: 1, limits: 2}                                 | limits
            laptop       | kind: Deployment                                             | kind
            laptop       | config: {backends: {s: {endpoints: [store:9000]}}}           | endpoints
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, gateway: {drain: 1s}} | drain
            laptop       | config: {backends: {}}                                       | name at least one store
            laptop       | credentials: {}                                              | give existingSecret
            multi-tenant | service: {type: LoadBalancer, port: 9000}                    |
            laptop       | config: {gateway: {authentication: trusted_network}, backends: {s: {endpoints: ["http://s"]}}} |
            rack-roce    | replicas: 2                                                  | config.gateway.sole
            rack-roce    | kind: DaemonSet                                              | config.gateway.sole
            daemonset    | replicas: 2                                                  | replicas: a DaemonSet
            rack-roce    | network: {rdmaResource: ""}                                  | network.rdmaResource
            infiniband   | network: {rdmaResource: rdma/a, hostNetwork: true, multus: rail0} | hostNetwork has no networks
            infiniband   | networkPolicy: {enabled: true}                               | networkPolicy.enabled
            rack-roce    | rack: {label: topology.example/rack}                         | rack.value
            rack-roce    | test: {object: b/k}                                          | test.existingSecret
            laptop       | hugePages: 4Mi                                               | hugePages
            rack-roce    | memoryMiB: {cache: 1536, heap: 512, other: 512}              | memoryMiB.cache: 1536 is no multiple
            laptop       | config: {cache: {huge_pages: 2MiB}, backends: {s: {endpoints: ["http://s"]}}} | huge_pages
            multi-tenant | tls: {clientCaSecret: ca}                                    | tls.clientCaSecret
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, rules: [{freshness: 30s}]} | is not strong, immutable, {bounded: 30s}
            laptop       | env: [{name: JDK_JAVA_OPTIONS, value: "-Xmx9g"}]             | must not size memory
            laptop       | env: [{name: RAILHEAD_JAVA_OPTIONS, value: "-Xmx9g"}]        | must not size memory
            laptop       | env: [{name: RAILHEAD_JAVA_OPTIONS, valueFrom: {}}]          | env[0]: RAILHEAD_JAVA_OPTIONS needs a value
            laptop       | memoryMiB: {cache: 128, heap: 256, other: 256}               | other
            laptop       | config: {backends: {s: {endpoints: ["http://s"], answer_timeout: 30}}} | answer_timeout
            laptop       | config: {backends: {s: {endpoints: ["http://s"], answer_timeout: 0s}}} | answer_timeout
            laptop       | config: {gateway: {idle_timeout: 60}, backends: {s: {endpoints: ["http://s"]}}} | idle_timeout
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, rules: [{authorization: {remember: 60}}]} | remember
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, rules: [{backend: t}]} | config.rules[0].backend: there is no 't'
            pass-through | credentials: {existingSecret: s}                             | credentials: must be empty
            laptop       | credentials: {existingSecret: s, roles: [{name: r, issuer: i, claims: {a: b}, backend_credential: {provider: default}}]} | not both
            laptop       | credentials: {roles: [{name: r, issuer: i, claims: {a: b}, backend_credential: {provider: default}}]} | set webIdentity.enabled
            laptop       | credentials: {existingSecret: s, revoked: [{role: r}]}       | credentials.revoked
            laptop       | webIdentity: {enabled: true, cluster: {enabled: false}}      | names nobody whose tokens count
            laptop       | webIdentity: {enabled: true, issuers: [{issuer: "https://ci", audiences: []}]} | audiences
            pass-through | webIdentity: {enabled: true}                                 | needs config.gateway.authentication: verify
            web-identity | webIdentity: {enabled: true, cluster: {issuer: "http://k"}}  | issuer
            web-identity | credentials: {roles: [{name: r, issuer: i, claims: {}, backend_credential: {provider: default}}]} | claims
            web-identity | tls: {}                                                      | without TLS
            laptop       | disk: {sizeGiB: 20000}                                       | sizeGiB
            laptop       | disk: {sizeGiB: 10, hostPaths: [/mnt/a]}                     | disk.hostPaths: is for kind: DaemonSet
            daemonset    | disk: {sizeGiB: 10}                                          | disk.hostPaths: a DaemonSet needs
            daemonset    | disk: {sizeGiB: 10, hostPaths: [mnt]}                        | hostPaths
            laptop       | disk: {sizeGiB: 10, claims: {mode: Raw}}                     | mode
            laptop       | config: {cache: {disk: {min_object: 1MiB}}, backends: {s: {endpoints: ["http://s"]}}} | set disk.sizeGiB
            disk         | config: {cache: {disk: {paths: [/x]}}, backends: {s: {endpoints: ["http://s"]}}} | config.cache.disk.paths: the chart sets it
            disk         | config: {cache: {disk: {writes_per_day: lots}}, backends: {s: {endpoints: ["http://s"]}}} | writes_per_day
            write-back   | replicas: 2                                                  | config.gateway.sole
            write-back   | cluster: {enabled: true, existingSecret: a}                  | config.gateway.sole
            write-back   | writeBack: {sizeGiB: 0}                                      | config.write_back: there is no log
            write-back   | policy: {}                                                   | config.rules[0].acknowledge: disk needs policy
            write-back   | writeBack: {sizeGiB: 10, path: /x}                           | path
            write-back   | config: {write_back: {size: 1GiB}, backends: {s: {endpoints: ["http://s"]}}} | size
            multi-tenant | writeBack: {sizeGiB: 10}                                     | writeBack: is for one gateway
            daemonset    | writeBack: {sizeGiB: 10}                                     | writeBack: is for one gateway
            cluster      | writeBack: {sizeGiB: 10}                                     | writeBack: cannot be used with cluster.enabled
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, rules: [{acknowledge: disk, copies: 1}]} | set writeBack.sizeGiB
            write-back   | config: {backends: {s: {endpoints: ["http://s"]}}, rules: [{acknowledge: disk, copies: 1}]} | disk needs config.gateway.sole: true
            write-back   | config: {gateway: {sole: true}, backends: {s: {endpoints: ["http://s"]}}, rules: [{acknowledge: disk}]} | config.rules[0].copies: is missing
            write-back   | config: {gateway: {sole: true}, backends: {s: {endpoints: ["http://s"]}}, rules: [{acknowledge: disk, copies: 2}]} | copies
            write-back   | credentials: {principals: [{name: trainer, keys: [{access_key: A, secret_key: S}]}]} | config.rules[0].acknowledge: disk needs one of credentials.principals with a backend_credential
            write-back   | credentials: {principals: [{name: reader, keys: [{access_key: B, secret_key: S}]}, {name: trainer, keys: [{access_key: A, secret_key: S}], backend_credential: {provider: default}}]} |
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, rules: [{copies: 1}]} | config.rules[0].copies: has no meaning without acknowledge: disk
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, admin: {listen: "127.0.0.1:9901"}} | config.admin.listen
            laptop       | config: {backends: {s: {endpoints: ["http://s"]}}, admin: {listen: "127.0.0.1:7800"}} |
            cluster      | config: {backends: {s: {endpoints: ["http://s"]}}, admin: {listen: "127.0.0.1:7800"}} | config.admin.listen
            laptop       | writeBack: null                                              |
            pass-through | policy: {Version: "2012-10-17"}                              | policy: cannot be held
            laptop       | cluster: {enabled: true}                                     | give existingSecret, a Secret with tls.crt
            laptop       | cluster: {existingSecret: members}                           | cluster.enabled: is false
            cluster      | cluster: {enabled: true, existingSecret: a, certManager: {enabled: true}} | not both
            cluster      | replicas: two                                                | replicas
            cluster      | config: {cluster: {name: a}, backends: {s: {endpoints: ["http://s"]}}} | cluster
            cluster      | config: {gateway: {sole: true}, backends: {s: {endpoints: ["http://s"]}}} | config.gateway.sole
            """)
    void whatIsUnsafeOrMisspeltIsRefusedWithItsName(String example, String values, String message)
            throws IOException {
        Chart chart = with(example, values);
        if (message == null) {
            assertThat(chart.render()).isNotEmpty();
        } else {
            assertThatThrownBy(chart::render).hasMessageContaining(message);
        }
    }

    @Test
    void whoTrustsTheNetworkIsNotExposed() throws IOException {
        Chart chart = with("laptop", """
                service: {type: NodePort, port: 9000}
                config:
                  gateway: {authentication: trusted_network, trusted_network: {principal: me}}
                  backends: {s: {endpoints: ["http://s"]}}
                """);
        assertThatThrownBy(chart::render).hasMessageContaining("service.type: NodePort");
    }

    @Test
    void severalTenantsUseRdmaOverTlsOnly() throws IOException {
        Chart chart = with("multi-tenant", """
                tls: {}
                network: {rdmaResource: rdma/a}
                config:
                  backends: {s: {endpoints: ["http://s"]}}
                  rdma: {verbs: {enabled: true}}
                """);
        assertThatThrownBy(chart::render).hasMessageContaining("without TLS");
        String noAdapter = "{tls: {}, config: {backends: {s: {endpoints: [\"http://s\"]}}%s}}";
        assertThatThrownBy(with("multi-tenant", noAdapter.formatted(""))::render)
                .hasMessageContaining("config.rdma.loopback.enabled: false");
        assertThat(with("multi-tenant",
                noAdapter.formatted(", rdma: {loopback: {enabled: false}}")).render()).isNotEmpty();
    }

    @Test
    void aPrincipalMayHaveTheProvidersCredential() throws IOException {
        String principal = "credentials: {principals: [{name: a, keys: [{access_key: A, secret_key: S}],"
                + " backend_credential: {%s}}]}";
        assertThat(with("laptop", principal.formatted("provider: default")).render()).isNotEmpty();
        assertThatThrownBy(with("laptop", principal.formatted("provider: other"))::render)
                .hasMessageContaining("provider");
        assertThatThrownBy(with("laptop", principal.formatted("account: b"))::render)
                .hasMessageContaining("backend_credential");
    }

    /** The gateway takes the roles, and asks the API server with files of a volume of its own. */
    @Test
    void rolesAloneAreEnough() throws Exception {
        Chart chart = Chart.of("web-identity");
        JsonNode data = chart.document("ConfigMap").path("data");
        Path yaml = mounted(folder, data);
        Files.writeString(folder.resolve("credentials.yaml"),
                chart.document("Secret").at("/stringData/credentials.yaml").asText());
        Files.writeString(folder.resolve("session.keys"),
                Base64.getEncoder().encodeToString(new byte[32]));
        GatewayConfig config = ConfigLoader.load(yaml);
        try (CredentialStore credentials = CredentialStore.open(config.gateway())) {
            assertThat(credentials.areOfSeveralTenants()).isTrue();
        }
        assertThat(Chart.YAML.readTree(data.path("railhead.yaml").asText())
                .at("/gateway/web_identity/issuers/0")
                .toString()).contains("\"/etc/railhead-cluster/token\"",
                        "\"/etc/railhead-cluster/ca.crt\"",
                        "\"https://kubernetes.default.svc/openid/v1/jwks\"");
    }

    /** Each rendering without a cluster makes another; an install keeps what it finds there. */
    @Test
    void keysOfSessionsAreGeneratedWhereNoneAreNamed() throws IOException {
        Chart chart = with("web-identity", "webIdentity: {enabled: true}");
        JsonNode secret = chart.documents()
                .stream()
                .filter(each -> each.at("/metadata/name").asText().endsWith("-session-keys"))
                .findFirst()
                .orElseThrow();
        String file = new String(
                Base64.getDecoder().decode(secret.at("/data/session.keys").asText()),
                StandardCharsets.UTF_8);
        assertThat(file).endsWith("\n");
        assertThat(Base64.getDecoder().decode(file.strip())).hasSize(32);
        assertThat(chart.render()).doesNotContain(secret.at("/data/session.keys").asText());
        assertThat(Chart.of("web-identity").render()).contains("name: site-session-keys")
                .doesNotContain("resource-policy");
    }

    /** A document that names another host for the keys has none without the token. */
    @Test
    void theClustersTokenIsShownToTheHostsThatAreNamed() throws IOException {
        String configuration = with("web-identity", """
                webIdentity: {enabled: true, cluster: {jwks: "", tokenHosts: [10.0.0.1]}}
                """).document("ConfigMap").at("/data/railhead.yaml").asText();
        assertThat(configuration).containsPattern("token_hosts:\\s+- 10\\.0\\.0\\.1")
                .doesNotContain("jwks:");
        assertThat(
                Chart.of("web-identity").document("ConfigMap").at("/data/railhead.yaml").asText())
                .doesNotContain("token_hosts");
    }

    @Test
    void issuersBesideTheClusterNeedNothingOfIt() throws IOException {
        Chart chart = with("web-identity", """
                webIdentity:
                  enabled: true
                  cluster: {enabled: false}
                  issuers: [{issuer: "https://ci.example", audiences: [railhead], single_use: true}]
                """);
        assertThat(chart.render()).doesNotContain("railhead-cluster", "kube-root-ca.crt");
        assertThat(chart.document("ConfigMap").at("/data/railhead.yaml").asText())
                .contains("issuer: https://ci.example");
    }

    @Test
    void whoTrustsTheNetworkTestsWithKeysToo() throws IOException {
        Chart chart = with("laptop", """
                test: {object: b/k}
                config:
                  gateway: {authentication: trusted_network, trusted_network: {principal: me}}
                  backends: {s: {endpoints: ["http://s"]}}
                """);
        assertThatThrownBy(chart::render).hasMessageContaining("test.existingSecret");
    }

    /** An older API server drops the field, or refuses the value, after the install has begun. */
    @Test
    void whatAnOlderKubernetesDoesNotKnowIsRefusedThere() {
        assertThat(Chart.of("daemonset").renderFor("1.34.0")).contains("PreferSameNode");
        assertThatThrownBy(() -> Chart.of("daemonset").renderFor("1.33.9")).hasMessageContaining(
                "service.trafficDistribution: PreferSameNode needs Kubernetes 1.34");
        assertThat(Chart.of("laptop").renderFor("1.27.0")).contains("StatefulSet");
    }

    /** Else the one that stays is restarted while the others go, and the rack has no gateway. */
    @Test
    void scalingChangesNoPod() throws IOException {
        JsonNode one = with("laptop", "replicas: 1\n").pod();
        assertThat(one).isEqualTo(with("laptop", "replicas: 3\n").pod());
        assertThat(one.at("/topologySpreadConstraints/0/whenUnsatisfiable").asText())
                .isEqualTo("ScheduleAnyway");
    }

    @Test
    void theDcKeyIsMountedFromItsSecretAndNoneServesOneTenantAlone() throws IOException {
        String dc = """
                network: {rdmaResource: rdma/a}
                config:
                  gateway: {allow_cleartext: true}
                  backends: {s: {endpoints: ["http://s"]}}
                  rdma: {dc: {enabled: true, device: mlx5_0, traffic_class: 104}}
                """;
        Chart chart = with("multi-tenant", dc + "dc: {existingSecret: rack-dc}\n");
        assertThat(chart.document("ConfigMap").at("/data/railhead.yaml").asText())
                .contains("key_file: /etc/railhead-dc/dc.key");
        assertThat(chart.document("StatefulSet").at("/spec/template/spec/volumes").toString())
                .contains("\"secretName\":\"rack-dc\"");
        assertThatThrownBy(with("multi-tenant", dc)::render)
                .hasMessageContaining("dc.existingSecret: principals of several tenants");
        assertThatThrownBy(with("laptop", dc.replace("rdma/a", "''"))::render)
                .hasMessageContaining("config.rdma.dc.enabled needs an adapter");
    }

    @Test
    void healthAndAdminPortsSpeakTlsWithSecretsOfTheirOwn() throws Exception {
        Chart chart = with("rack-roce", """
                healthTls: {existingSecret: health, clientCaSecret: prometheus-ca}
                adminTls: {existingSecret: admin}
                monitoring: {serviceMonitor: {enabled: true, tlsConfig: {serverName: rack1}}}
                """);
        JsonNode config = Chart.YAML.readTree(
                chart.document("ConfigMap").at("/data/railhead.yaml").asText());
        assertThat(config.at("/gateway/health_tls/client_ca").asText())
                .isEqualTo("/etc/railhead-health-tls/client-ca.crt");
        assertThat(config.at("/admin/tls/key").asText())
                .isEqualTo("/etc/railhead-admin-tls/tls.key");
        assertThat(config.at("/admin/tls").has("client_ca")).isFalse();
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(chart.pod().at("/containers/0/" + probe + "/httpGet/scheme").asText())
                    .isEqualTo("HTTPS");
        }
        JsonNode scraped = chart.document("ServiceMonitor").at("/spec/endpoints/0");
        assertThat(scraped.path("scheme").asText()).isEqualTo("https");
        assertThat(scraped.at("/tlsConfig/serverName").asText()).isEqualTo("rack1");
        assertThat(ConfigLoader.load(mounted(folder, chart.document("ConfigMap").path("data")))
                .gateway()
                .healthTls()).isNotNull();
        assertThatThrownBy(with("rack-roce", "adminTls: {clientCaSecret: x}\n")::render)
                .hasMessageContaining("adminTls.clientCaSecret: needs a certificate");
    }

    @Test
    void theGatewaysOfAClusterMeetByTheHeadlessServiceAndLetNobodyElseIn() throws Exception {
        Chart chart = Chart.of("cluster");
        var cluster = ConfigLoader.load(mounted(folder, chart.document("ConfigMap").path("data")))
                .cluster();
        assertThat(cluster).isNotNull();
        JsonNode headless = chart.documents()
                .stream()
                .filter(each -> (each.at("/metadata/name").asText() + ".storage.svc")
                        .equals(cluster.dns()))
                .findFirst()
                .orElseThrow();
        assertThat(headless.at("/spec/publishNotReadyAddresses").asBoolean()).isTrue();
        assertThat(chart.pod().path("volumes").toString()).contains("rack1-members");
        JsonNode rule = chart.document("NetworkPolicy").at("/spec/ingress/2");
        assertThat(rule.path("ports").toString()).contains("cluster", "fills");
        assertThat(rule.at("/from/0/podSelector/matchLabels"))
                .isEqualTo(headless.at("/spec/selector"));
        assertThat(Chart.of("laptop").document("ConfigMap").at("/data/railhead.yaml").asText())
                .doesNotContain("cluster:");
    }

    @Test
    void certManagerWritesTheGatewaysCertificate() throws IOException {
        Chart chart = with("cluster", "cluster: {enabled: true, certManager: {enabled: true,"
                + " issuerRef: {name: members-ca}}}\n");
        JsonNode spec = chart.document("Certificate").path("spec");
        assertThat(spec.at("/issuerRef/name").asText()).isEqualTo("members-ca");
        assertThat(chart.pod().path("volumes").toString())
                .contains(spec.path("secretName").asText());
    }

    @Test
    void theAuditStreamGoesToSyslogWithItsSecrets() throws Exception {
        String audit = """
                auditSyslog: {caSecret: logs-ca, clientSecret: rack1-logs}
                config:
                  backends: {s: {endpoints: ["http://s"]}}
                  audit: {file: stdout, required: true%s}
                """;
        Chart chart = with("laptop",
                audit.formatted(", syslog: {server: \"logs.example:6514\"}"));
        var loaded = ConfigLoader.load(mounted(folder, chart.document("ConfigMap").path("data")))
                .audit();
        assertThat(loaded).isNotNull();
        assertThat(loaded.required()).isTrue();
        assertThat(loaded.syslog()).isNotNull();
        assertThat(loaded.syslog().ca()).isEqualTo(folder.resolve("ca.crt"));
        assertThat(chart.pod().path("volumes").toString()).contains("logs-ca", "rack1-logs");
        assertThatThrownBy(with("laptop", audit.formatted(""))::render)
                .hasMessageContaining("auditSyslog: is for config.audit.syslog.server");
    }

    @Test
    void rulesAndDashboardAreTheFilesOfTheChart() throws IOException {
        Chart chart = Chart.of("rack-roce");
        assertThat(chart.document("PrometheusRule").path("spec"))
                .isEqualTo(Chart.YAML.readTree(Chart.file("files/alerts.yaml")));
        JsonNode dashboard = chart.documents()
                .stream()
                .filter(each -> each.path("data").has("railhead.json"))
                .findFirst()
                .orElseThrow();
        assertThat(Chart.YAML.readTree(dashboard.at("/data/railhead.json").asText()))
                .isEqualTo(Chart.YAML.readTree(Chart.file("files/dashboard.json")));
    }

    @Test
    void anotherNameIsTheOneThatAlertsLookFor() throws IOException {
        Chart chart = with("rack-roce", "nameOverride: s3cache\n");
        String job = chart.document("PrometheusRule").at("/spec/groups/0/rules/0/expr").asText();
        assertThat(job).isEqualTo("up{job=\"s3cache\"} == 0 or absent(up{job=\"s3cache\"})");
        assertThat(chart.document("ServiceMonitor").at("/spec/jobLabel").asText())
                .isEqualTo("app.kubernetes.io/name");
        assertThat(chart.document("Service")
                .at("/metadata/labels/app.kubernetes.io~1name")
                .asText()).isEqualTo("s3cache");
    }

    @Test
    void aDaemonSetHasNoBudgetThatNobodyCouldCount() {
        assertThat(Chart.of("daemonset").render()).doesNotContain("PodDisruptionBudget");
        assertThat(Chart.of("rack-roce").render()).contains("PodDisruptionBudget");
    }

    @Test
    void theAdminPortMayBeMovedOffTheNodesLoopback() throws IOException {
        Chart chart = with("laptop", """
                config: {admin: {enabled: false}, backends: {s: {endpoints: ["http://s"]}}}
                """);
        assertThat(chart.document("ConfigMap").at("/data/railhead.yaml").asText())
                .contains("admin:\n  enabled: false");
    }

    /** Both say what to do: each alert has its page, and no page is about an alert that is gone. */
    @Test
    void eachAlertHasItsPage() throws IOException {
        List<String> pages = Files.readAllLines(Path.of("../docs/runbook.md"))
                .stream()
                .filter(line -> line.startsWith("## Railhead"))
                .map(line -> line.substring(3))
                .toList();
        assertThat(alerts().map(rule -> rule.path("alert").asText()))
                .containsExactlyElementsOf(pages);
        assertThat(alerts()).allSatisfy(rule -> assertThat(rule.at("/annotations/runbook").asText())
                .isEqualTo("docs/runbook.md#"
                        + rule.path("alert").asText().toLowerCase(Locale.ROOT)));
    }

    private static Stream<JsonNode> alerts() throws IOException {
        return Chart.YAML.readTree(Chart.file("files/alerts.yaml"))
                .at("/groups/0/rules")
                .valueStream();
    }
}
