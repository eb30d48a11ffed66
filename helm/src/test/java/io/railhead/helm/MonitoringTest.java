package io.railhead.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.os.devices.PortCounters;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The alerts and the dashboard of the chart, against what a gateway really counts. Where promtool
 * is ({@code PROMTOOL}, or on the path) it reads them too.
 */
class MonitoringTest {
    private static final Pattern METRIC = Pattern.compile("railhead_[a-z_]+");
    private static final Pattern COUNTER = Pattern.compile("counter[=!]~?\"([^\"]+)\"");
    private static final Pattern SERIES_SUFFIX = Pattern.compile("_(bucket|count|sum)$");

    @TempDir
    private Path folder;

    @Test
    void whatTheyAskForIsCounted() throws Exception {
        List<String> counted = metrics().lines()
                .filter(line -> line.startsWith("# TYPE "))
                .map(line -> line.split(" ", -1)[2])
                .toList();
        assertThat(expressions().flatMap(MonitoringTest::names).distinct()).isNotEmpty()
                .isSubsetOf(counted);
    }

    @Test
    void promtoolFindsNothingInTheMetrics() throws Exception {
        Path metrics = Files.writeString(folder.resolve("metrics"), metrics());
        assertThat(promtool(metrics, "check", "metrics")).isEmpty();
    }

    @Test
    void alertsGoOffWhenTheyShould() throws Exception {
        assertThat(promtool(null, "test", "rules", "src/test/promtool/alerts_test.yaml"))
                .contains("SUCCESS");
    }

    /** Alerts that nobody has seen going off are no alerts. */
    @Test
    void eachAlertIsSeenGoingOff() throws IOException {
        var seen = new TreeSet<String>();
        for (JsonNode test : Chart.YAML
                .readTree(Path.of("src/test/promtool/alerts_test.yaml").toFile())
                .path("tests")) {
            for (JsonNode each : test.path("alert_rule_test")) {
                if (each.path("exp_alerts").size() > 0) {
                    seen.add(each.path("alertname").asText());
                }
            }
        }
        assertThat(alerts().map(each -> each.path("alert").asText()))
                .containsExactlyInAnyOrderElementsOf(seen);
    }

    @Test
    void promtoolReadsEachExpressionOfTheDashboard() throws Exception {
        List<Map<String, String>> rules = new ArrayList<>();
        dashboard()
                .forEach(each -> rules.add(Map.of("record", "panel" + rules.size() + ":x", "expr",
                        each.replace("$__rate_interval", "5m").replace("$instance", ".*"))));
        Path file = folder.resolve("dashboard.yaml");
        Chart.YAML.writeValue(file.toFile(),
                Map.of("groups", List.of(Map.of("name", "dashboard", "rules", rules))));
        assertThat(promtool(null, "check", "rules", file.toString())).contains("SUCCESS");
    }

    /**
     * A counter that nothing reads would be a line that is never drawn, an alert that never goes
     * off.
     */
    @Test
    void theAdaptersCountersThatTheyNameAreRead() throws IOException {
        List<String> named = expressions().flatMap(each -> COUNTER.matcher(each).results())
                .flatMap(each -> Stream.of(each.group(1).split("\\|", -1)))
                .distinct()
                .toList();
        Path port = folder.resolve("class/infiniband/mlx5_0/ports/1");
        for (String name : named) {
            for (String kind : List.of("counters", "hw_counters")) {
                Files.createDirectories(port.resolve(kind));
                Files.writeString(port.resolve(kind).resolve(name), "1\n");
            }
        }
        assertThat(PortCounters.read(folder, "mlx5_0", 1).events().keySet())
                .contains("np_cnp_sent")
                .containsExactlyInAnyOrderElementsOf(named);
    }

    private static Stream<String> names(String expression) {
        return METRIC.matcher(expression)
                .results()
                .map(each -> SERIES_SUFFIX.matcher(each.group()).replaceAll(""));
    }

    private static Stream<String> expressions() throws IOException {
        return Stream.concat(alerts().map(each -> each.path("expr").asText()), dashboard());
    }

    private static Stream<JsonNode> alerts() throws IOException {
        return Chart.YAML.readTree(Chart.file("files/alerts.yaml"))
                .at("/groups/0/rules")
                .valueStream();
    }

    private static Stream<String> dashboard() throws IOException {
        return Chart.YAML.readTree(Chart.file("files/dashboard.json"))
                .path("panels")
                .findValuesAsText("expr")
                .stream();
    }

    /** What a gateway that nobody has asked for anything says of itself. */
    private String metrics() throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"),
                "principals: [{name: nobody, keys: [{access_key: AK, secret_key: SK}]}]");
        String common = """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: credentials.yaml}
                backends: {store: {endpoints: ["http://127.0.0.1:9"]}}
                rdma: {loopback: {socket: %s}}
                """
                .formatted(folder.resolve("loopback.sock"));
        String clustered = metrics(common + """
                cache: {memory: 64MiB, disk: {paths: [%s], size: 130MiB}}
                cluster: {listen: "%2$s:7800", members: ["%2$s:7800"]}
                """.formatted(folder.resolve("disk"), ownAddress()));
        String ofWriteBack = metrics(common + """
                cache: {memory: 64MiB}
                write_back: {path: %s, size: 64MiB}
                """.formatted(folder.resolve("log")))
                .lines()
                .filter(line -> line.contains("railhead_write_back_"))
                .collect(Collectors.joining("\n", "", "\n"));
        return clustered + ofWriteBack;
    }

    private String metrics(String yaml) throws Exception {
        GatewayConfig config = ConfigLoader
                .load(Files.writeString(folder.resolve("railhead.yaml"), yaml));
        try (CredentialStore credentials = CredentialStore.open(config.gateway());
                Gateway gateway = Gateway.start(config, credentials);
                HttpClient client = HttpClient.newHttpClient()) {
            URI address = URI.create("http://127.0.0.1:" + gateway.healthPort() + "/metrics");
            return client
                    .send(HttpRequest.newBuilder(address).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    /** An address of the loopback network that no other process of this test has. */
    private static String ownAddress() {
        long id = ProcessHandle.current().pid() % 62_500;
        return "127.250." + id / 250 + "." + (1 + id % 250);
    }

    /** Its output; a status other than 0 fails the test. */
    private static String promtool(@Nullable Path input, String... arguments)
            throws IOException, InterruptedException {
        Optional<Path> program = findPromtool();
        assumeTrue(program.isPresent(), "promtool is not on PATH, and PROMTOOL names none");
        var command = new ArrayList<>(List.of(program.orElseThrow().toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (input != null) {
            builder.redirectInput(input.toFile());
        }
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private static Optional<Path> findPromtool() {
        return Stream.concat(Stream.ofNullable(System.getenv("PROMTOOL")),
                Stream.of(System.getenv("PATH").split(":", -1)).map(each -> each + "/promtool"))
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst();
    }
}
