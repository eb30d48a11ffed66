package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.railhead.cli.doctor.KeyPairs;
import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** What the administrator's commands ask for, and what they make of the answer. */
class AdminCommandTest {
    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private HttpServer port;
    private volatile String asked = "";
    private volatile int status = 200;
    private volatile String answer = "{}";

    @BeforeEach
    void start() throws IOException {
        System.setProperty("aws.accessKeyId", "ADMIN");
        System.setProperty("aws.secretAccessKey", "admin-secret");
        port = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        port.createContext("/", this::serve);
        port.start();
    }

    @AfterEach
    void stop() {
        port.stop(0);
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            asked = exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(exchange.getRequestHeaders().getFirst("x-amz-content-sha256")).hasSize(64);
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private int run(int onPort, String... arguments) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        String[] all = new String[arguments.length + 2];
        all[0] = "admin";
        all[1] = arguments[0];
        all[2] = "--endpoint=http://127.0.0.1:" + onPort;
        System.arraycopy(arguments, 1, all, 3, arguments.length - 1);
        return line.execute(all);
    }

    private int run(String... arguments) {
        return run(port.getAddress().getPort(), arguments);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "erase team-a            | erase {\"tenant\":\"team-a\"}",
            "evict s3://b/a/k        | evict {\"bucket\":\"b\",\"key\":\"a/k\"}",
            "evict s3://b/a/ -r      | evict {\"bucket\":\"b\",\"prefix\":\"a/\"}",
            "pin s3://b              | pin {\"bucket\":\"b\",\"prefix\":\"\"}",
            "unpin s3://b/k          | unpin {\"bucket\":\"b\",\"key\":\"k\"}",
            "pins                    | pins {}",
            "pending                 | pending {}",
            "retry                   | retry {}",
            "flush                   | flush {\"progress\":true}",
            "discard s3://b/a/k --id 1-2 | discard {\"bucket\":\"b\",\"key\":\"a/k\",\"id\":\"1-2\"}",
            "drain --wait 2m         | drain {\"undo\":false,\"wait_seconds\":120}",
            "drain --undo            | drain {\"undo\":true,\"wait_seconds\":0}",
            "log-level               | log-level {}",
            "usage                   | usage {\"by_tenant\":false}",
            "usage --by-tenant       | usage {\"by_tenant\":true}",
            "log-level a.B debug --for 10m | log-level {\"logger\":\"a.B\",\"level\":\"DEBUG\",\"for_seconds\":600}",
            "warm s3://b/p --tier disk | warm {\"bucket\":\"b\",\"concurrency\":4,\"prefix\":\"p\",\"tier\":\"disk\"}",
            "warm s3://b/p --from k --rate 1KiB --concurrency 2 | warm {\"bucket\":\"b\",\"concurrency\":2,\"prefix\":\"p\",\"from\":\"k\",\"bytes_per_second\":1024}"})
    void eachCommandIsOneCall(String command, String call) {
        answer = "{\"state\":\"done\"}";
        assertThat(run(command.split(" "))).as(err.toString()).isZero();
        assertThat(asked).isEqualTo("POST /.railhead/admin/" + call);
    }

    @Test
    void keysComeFromAFile() throws IOException {
        answer = "{\"state\":\"done\"}";
        Path keys = Files.writeString(folder.resolve("keys"), "a b\n\nc\n");
        assertThat(run("warm", "s3://b", "--keys", keys.toString())).isZero();
        assertThat(asked).endsWith("{\"bucket\":\"b\",\"concurrency\":4,\"keys\":[\"a b\",\"c\"]}");
    }

    @Test
    void aWarmingShowsHowFarItHasComeAndWhereToGoOn() {
        answer = "{\"state\":\"running\",\"objects\":1,\"bytes\":1048576,\"bytes_per_second\":524288,"
                + "\"held\":0,\"last_key\":\"a\"}\n{\"state\":\"full\",\"objects\":2,\"bytes\":3145728,"
                + "\"bytes_per_second\":1048576,\"held\":3,\"not_cached\":1,\"last_key\":\"b\","
                + "\"reason\":\"of c 8.0 MiB more are wanted\",\"cache_bytes\":67108864,"
                + "\"room_bytes\":1048576}\n";
        assertThat(run("warm", "s3://b")).isEqualTo(1);
        assertThat(out.toString().lines()).containsExactly(
                "1 objects, 1.0 MiB, 0.5 MiB/s, at a",
                "2 objects, 3.0 MiB, 1.0 MiB/s, 3 held already, 1 not cached, at b");
        assertThat(err.toString().strip())
                .isEqualTo("railhead: the cache is full: 1.0 MiB are free of 64.0 MiB, and of c"
                        + " 8.0 MiB more are wanted; raise cache.memory, warm less, or evict what"
                        + " is not needed (railhead admin evict); go on with --from 'b'");
    }

    @Test
    void usageIsATable() {
        answer = "{\"since\":\"2026-11-26T08:00:00Z\",\"currency\":\"USD\",\"usage\":[{\"tenant\":\"a\","
                + "\"bucket\":\"models\",\"reads\":1000,\"writes\":1,\"hits\":990,\"misses\":10,"
                + "\"bytes\":4194304000,\"store_reads\":10,\"store_writes\":1,"
                + "\"store_bytes\":41943040,\"avoided_requests\":990,\"avoided_bytes\":4152360960,"
                + "\"mean_seconds\":0.0012,\"store_cost\":0.004,\"saved\":0.35}],\"total\":{"
                + "\"reads\":1000,\"writes\":1,\"hits\":990,\"misses\":10,\"bytes\":4194304000,"
                + "\"store_reads\":10,\"store_writes\":1,\"store_bytes\":41943040,"
                + "\"avoided_requests\":-3,\"avoided_bytes\":-500,\"mean_seconds\":0.0012,"
                + "\"store_cost\":0.004,\"saved\":0.35}}";
        assertThat(run("usage")).isZero();
        assertThat(out.toString().lines()).containsExactly(
                "TENANT  BUCKET  REQUESTS  HITS  MISSES   SERVED  STORE REQUESTS  STORE BYTES"
                        + "  AVOIDED REQUESTS  AVOIDED BYTES  MEAN MS  COST USD  SAVED USD",
                "a       models      1001   990      10  3.9 GiB              11     40.0 MiB"
                        + "               990        3.9 GiB     1.20    0.0040     0.3500",
                "total               1001   990      10  3.9 GiB              11     40.0 MiB"
                        + "                -3         -500 B     1.20    0.0040     0.3500",
                "since 2026-11-26T08:00:00Z");
    }

    @Test
    void membersAreShownWithTheAgeOfTheirAnswers() {
        answer = "{\"view\":\"v\",\"lease\":false,\"members\":[{\"name\":\"g0\",\"self\":true},"
                + "{\"name\":\"g1\",\"self\":false,\"silence_ms\":120,\"differs_in\":[]},"
                + "{\"name\":\"g2\",\"self\":false,\"silence_ms\":null,"
                + "\"differs_in\":[\"cache.page\"]}],\"told\":7,\"unheard\":1,\"applied\":3,"
                + "\"gaps\":0}";
        assertThat(run("members")).isZero();
        assertThat(out.toString().lines()).containsExactly("g0  this gateway",
                "g1  answered 120 ms ago",
                "g2  has not answered yet, configured otherwise: cache.page",
                "not all answer: every read asks its store",
                "changes: 7 told, 1 of them not acknowledged by all, 3 applied of others");
    }

    @Test
    void asJsonTheAnswerIsPrintedAsItCame() {
        answer = "{\"state\":\"busy\",\"draining\":true,\"in_flight\":1}";
        assertThat(run("drain", "--json", "--wait", "1s")).isEqualTo(1);
        assertThat(out.toString().strip()).isEqualTo(answer);
    }

    @Test
    void aRefusalIsOneLine() {
        status = 403;
        answer = "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>";
        assertThat(run("pins")).isEqualTo(1);
        assertThat(err.toString().strip()).isEqualTo("railhead: AccessDenied: No.");
    }

    @ParameterizedTest
    @CsvSource({"evict,b/k", "warm,s3:///k", "warm,s3://b --rate lots", "drain,--wait 5",
            "drain,--wait 2h", "discard,s3://b/k", "discard,s3://b --id 1-2",
            "export,s3://b/k --id 1-2", "log-level,io --for 5m", "warm,s3://b/p --keys f"})
    void misuseIsTold(String command, String arguments) {
        assertThat(run((command + " " + arguments).split(" "))).isEqualTo(2);
        assertThat(asked).isEmpty();
    }

    @Test
    void noCommandIsMisuseAndHelpNamesAll() {
        assertThat(Main.commandLine().setErr(new PrintWriter(err)).execute("admin")).isEqualTo(2);
        assertThat(Main.commandLine().setOut(new PrintWriter(out, true)).execute("admin", "--help"))
                .isZero();
        assertThat(out.toString()).contains("warm", "pin", "unpin", "pins", "evict", "drain",
                "log-level", "usage", "members", "pending", "retry", "flush", "export", "discard",
                "support-bundle", "admin: true");
    }

    @Test
    void aSupportBundleSaysFirstWhatIsInItAndHasNoMore() throws Exception {
        Path zip = folder.resolve("bundle.zip");
        assertThat(run("support-bundle", "--list", "-o", zip.toString())).isZero();
        assertThat(asked).as("nothing was asked").isEmpty();
        assertThat(zip).doesNotExist();
        String list = out.toString();
        assertThat(list).contains("config.json", "secrets masked", "doctor.json");
        answer = """
                {"parts":{"version.json":"{}","config.json":"c","limits.json":"l","status.json":"s",\
                "metrics.txt":"m","audit.txt":"a","threads.txt":"t","log.txt":"g","more.txt":"x"}}
                """;
        assertThat(run("support-bundle", "-o", zip.toString())).isZero();
        assertThat(asked).isEqualTo("POST /.railhead/admin/support {}");
        try (ZipFile written = new ZipFile(zip.toFile())) {
            assertThat(written.stream().map(ZipEntry::getName)).containsExactly("version.json",
                    "config.json", "limits.json", "status.json", "metrics.txt", "audit.txt",
                    "threads.txt", "log.txt");
            assertThat(written.getInputStream(written.getEntry("log.txt"))).hasContent("g");
        }
        assertThat(Files.getPosixFilePermissions(zip))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(run("support-bundle", "-o", zip.toString())).as("never replaced").isEqualTo(1);
        answer = "{\"parts\":{\"version.json\":\"{}\"}}";
        assertThat(run("support-bundle", "-o", folder.resolve("b").toString()))
                .as("parts are missing")
                .isEqualTo(1);
    }

    @Test
    void aBundleOfARealGatewayHasTheDoctorsReport() throws Exception {
        Path yaml = Files.writeString(folder.resolve("railhead.yaml"),
                """
                        gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: c.yaml}
                        cache: {memory: 32MiB}
                        backends:
                          store: {endpoints: ["http://127.0.0.1:9"], proxy: "http://u:CaNaRy7f3d@127.0.0.1:9"}
                        rdma: {loopback: {enabled: false}}
                        admin: {listen: "127.0.0.1:0"}
                        """);
        Files.writeString(folder.resolve("c.yaml"), """
                principals:
                  - {name: o, keys: [{access_key: ADMIN, secret_key: admin-secret}], admin: true}
                """);
        GatewayConfig config = ConfigLoader.load(yaml);
        Path zip = folder.resolve("bundle.zip");
        try (CredentialStore credentials = CredentialStore.open(config.gateway());
                Gateway gateway = Gateway.start(config, credentials)) {
            assertThat(run(gateway.adminPort(), "support-bundle", "-o", zip.toString(), "--config",
                    yaml.toString())).isZero();
        }
        try (ZipFile written = new ZipFile(zip.toFile())) {
            assertThat(written.getEntry("doctor.json")).isNotNull();
            for (ZipEntry entry : Collections.list(written.entries())) {
                assertThat(new String(written.getInputStream(entry).readAllBytes(),
                        StandardCharsets.UTF_8)).as(entry.getName())
                        .isNotBlank()
                        .doesNotContain("CaNaRy7f3d", "admin-secret");
            }
        }
    }

    @Test
    void aPortThatAsksForCertificatesGetsThem() throws Exception {
        KeyPairs pairs = new KeyPairs(folder).create("server", "ip:127.0.0.1", "-1d", 30)
                .create("operator", "ip:127.0.0.1", "-1d", 30);
        Path yaml = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: c.yaml}
                cache: {memory: 32MiB}
                backends: {store: {endpoints: ["http://127.0.0.1:9"]}}
                rdma: {loopback: {enabled: false}}
                admin:
                  listen: "127.0.0.1:0"
                  tls: {certificate: server.pem, key: server.key, client_ca: operator.pem}
                """);
        Files.writeString(folder.resolve("c.yaml"), """
                principals:
                  - {name: o, keys: [{access_key: ADMIN, secret_key: admin-secret}], admin: true}
                """);
        GatewayConfig config = ConfigLoader.load(yaml);
        try (CredentialStore credentials = CredentialStore.open(config.gateway());
                Gateway gateway = Gateway.start(config, credentials)) {
            String endpoint = "--endpoint=https://127.0.0.1:" + gateway.adminPort();
            String ca = "--ca=" + pairs.certificate("server");
            String cert = "--cert=" + pairs.certificate("operator");
            String key = "--key=" + pairs.key("operator");
            assertThat(at(endpoint, "pins", ca, cert, key)).isZero();
            assertThat(at(endpoint, "pins", ca)).as("no certificate").isEqualTo(1);
            assertThat(at(endpoint, "pins", cert, key)).as("unknown authority").isEqualTo(1);
            assertThat(at(endpoint, "pins", ca, cert)).as("no key").isEqualTo(2);
            err.getBuffer().setLength(0);
            assertThat(at(endpoint.replace("https", "http"), "pins")).isEqualTo(1);
            assertThat(err.toString().strip().lines()).containsExactly(
                    "railhead: cannot connect: http://127.0.0.1:" + gateway.adminPort()
                            + " speaks TLS: use https://127.0.0.1:" + gateway.adminPort());
        }
    }

    private int at(String endpoint, String... arguments) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        String[] all = new String[arguments.length + 2];
        all[0] = "admin";
        all[1] = arguments[0];
        all[2] = endpoint;
        System.arraycopy(arguments, 1, all, 3, arguments.length - 1);
        return line.execute(all);
    }

    @Test
    void aRealGatewayAnswers() throws Exception {
        Path yaml = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: c.yaml}
                cache: {memory: 32MiB}
                backends: {store: {endpoints: ["http://127.0.0.1:9"]}}
                rdma: {loopback: {enabled: false}}
                admin: {listen: "127.0.0.1:0"}
                """);
        Files.writeString(folder.resolve("c.yaml"), """
                principals:
                  - {name: o, keys: [{access_key: ADMIN, secret_key: admin-secret}], admin: true}
                """);
        GatewayConfig config = ConfigLoader.load(yaml);
        try (CredentialStore credentials = CredentialStore.open(config.gateway());
                Gateway gateway = Gateway.start(config, credentials)) {
            assertThat(run(gateway.adminPort(), "pin", "s3://b/models/", "-r")).isZero();
            assertThat(run(gateway.adminPort(), "pins")).isZero();
            assertThat(run(gateway.adminPort(), "log-level")).isZero();
            assertThat(run(gateway.adminPort(), "usage", "--by-tenant")).isZero();
        }
        assertThat(out.toString()).contains("0\t0.0 MiB\ts3://b/models/ --recursive", "\tROOT",
                "TENANT  REQUESTS");
        assertThat(err.toString()).isEmpty();
    }
}
