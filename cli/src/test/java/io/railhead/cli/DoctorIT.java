package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.railhead.cli.doctor.KeyPairs;
import io.railhead.cli.doctor.MachineFolder;
import io.railhead.cli.doctor.SmallStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * {@code railhead doctor} as it is typed, where something is wrong: cause, mend and exit status.
 */
class DoctorIT {
    private static final String GOOD_CREDENTIALS = """
            principals: [{name: alice, keys: [{access_key: AKALICE, secret_key: very-secret}]}]
            """;
    private static KeyPairs pairs;

    @TempDir
    static Path keys;

    @TempDir
    Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private MachineFolder machine;
    private Path root;
    private SmallStore store;

    /** A configuration, piece by piece, and what is around it. */
    private String health = "127.0.0.1:0";
    private String gateway = "";
    private String cache = "";
    private String rdma = "loopback: {enabled: false}";
    private String backend = "";
    private String endpoint;
    private String credentials = GOOD_CREDENTIALS;
    private final List<String> options = new ArrayList<>();

    @BeforeAll
    static void createKeys() throws Exception {
        pairs = new KeyPairs(keys).create("good", "ip:127.0.0.1", "-1d", 300)
                .create("expired", "ip:127.0.0.1", "-10d", 5)
                .create("elsewhere", "dns:elsewhere.example", "-1d", 300);
    }

    @BeforeEach
    void allIsWell() throws IOException {
        root = Files.createDirectories(folder.resolve("root"));
        machine = new MachineFolder(root);
        serve(new SmallStore());
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private SmallStore serve(SmallStore other) {
        store = opened(other);
        endpoint = store.endpoint();
        return store;
    }

    private <T extends AutoCloseable> T opened(T part) {
        open.add(part);
        return part;
    }

    private String tls(String pair) throws Exception {
        return serve(new SmallStore(pairs.sockets(pair), "https")).endpoint();
    }

    private record Outcome(int status, JsonNode json, String text, String err) {
        List<JsonNode> failed() {
            return marked("fail");
        }

        List<JsonNode> marked(String mark) {
            return json.path("findings")
                    .valueStream()
                    .filter(finding -> finding.path("mark").asText().equals(mark))
                    .toList();
        }
    }

    private Path config() throws IOException {
        Path file = Files.writeString(folder.resolve("credentials.yaml"), credentials);
        if (!options.remove("open credentials")) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, listen: "127.0.0.1:0", health: "%s"%s}
                admin: {enabled: false}
                cache: {memory: %s}
                rdma: {%s}
                backends: {a: {endpoints: ["%s"]%s}}
                """.formatted(health, gateway.isEmpty() ? "" : ", " + gateway,
                cache.isEmpty() ? "64MiB" : cache, rdma, endpoint,
                backend.isEmpty() ? "" : ", " + backend));
    }

    private List<String> command() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("doctor", "--root", root.toString(),
                "--config", config().toString()));
        arguments.addAll(options);
        return arguments;
    }

    private Outcome examine() throws IOException {
        options.add("--json");
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = line(out, err).execute(command().toArray(String[]::new));
        return new Outcome(status, new ObjectMapper().readTree(out.toString()), out.toString(),
                err.toString());
    }

    private static CommandLine line(StringWriter out, StringWriter err) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line;
    }

    interface Wrong {
        void make(DoctorIT it) throws Exception;
    }

    /**
     * What is wrong.
     *
     * @param subject of the one finding that fails, or is pointed out
     */
    record Case(String name, Wrong wrong, String subject, String cause, String mend) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> failing() {
        return Stream.of(
                new Case("a key that is misspelt", it -> it.gateway = "drian: 3s",
                        "configuration", "drian: unknown key", "serve --check"),
                new Case("credentials that cannot be read",
                        it -> it.credentials = "principals: [{nam: x}]", "credentials", "nam",
                        "mend that line"),
                new Case("more cache than memory", it -> it.cache = "900GiB", "memory",
                        "64 GiB can be had, the cache takes 900 GiB", "set cache.memory lower"),
                new Case("a low limit on locked memory", it -> {
                    it.machine.limits("8388608", "1048576");
                    it.cache = "64MiB, lock: true";
                }, "memlock", "8 MiB may be pinned", "LimitMEMLOCK=infinity"),
                new Case("few descriptors", it -> it.machine.limits("unlimited", "300"),
                        "descriptors", "300 may be open", "LimitNOFILE="),
                new Case("no folder for the socket",
                        it -> it.rdma = "loopback: {socket: " + it.root + "/none/l.sock}",
                        "loopback", "there is no folder", "install -d"),
                new Case("a name that nobody knows",
                        it -> it.endpoint = "http://" + "s3".repeat(40) + ".invalid:9000", "a/dns",
                        "is not known to the resolver", "getent hosts"),
                new Case("a store that is not there", it -> {
                    it.store.close();
                }, "a/tcp", "Connection refused", "start the store"),
                new Case("a certificate of an unknown authority", it -> it.tls("good"), "a/tls",
                        "its issuer is CN=good", "backends.a.ca"),
                new Case("a certificate that has expired", it -> it.tls("expired"), "a/tls",
                        "was good until", "renew the store's certificate"),
                new Case("a certificate for another name", it -> {
                    it.tls("elsewhere");
                    it.backend = "ca: " + pairs.certificate("elsewhere");
                }, "a/tls", "for elsewhere.example, not for 127.0.0.1", "as its certificate does"),
                new Case("TLS that is HTTP",
                        it -> it.endpoint = it.endpoint.replace("http:", "https:"), "a/tls",
                        "does not speak TLS", "http:// instead of https://"),
                new Case("HTTP that is TLS",
                        it -> it.endpoint = it.tls("good").replace("https:", "http:"), "a/tls",
                        "speaks TLS", "https:// instead of http://"),
                new Case("a clock that is 20 minutes off",
                        it -> it.store.ahead(Duration.ofMinutes(20)), "a/clock",
                        "this machine is 19 min behind 127.0.0.1", "timedatectl set-ntp true"),
                new Case("an access key that the store does not know",
                        it -> it.store.refuses("403 InvalidAccessKeyId"), "a/credential",
                        "AKALICE of principal alice is not known", "backend_credential"),
                new Case("another secret", it -> it.store.refuses("403 SignatureDoesNotMatch"),
                        "a/credential", "has another secret_key at the store", "credentials.yaml"),
                new Case("another region",
                        it -> it.store.refuses("400 AuthorizationHeaderMalformed"),
                        "a/credential", "the region is not us-east-1", "backends.a.region"),
                new Case("a session that is over", it -> it.store.refuses("400 ExpiredToken"),
                        "a/credential", "has expired", "renew session_token"),
                new Case("a console instead of S3", it -> it.store.pages(), "a/credential",
                        "is not answered as S3 answers", "console has another"),
                new Case("a refusal that is not S3's", it -> it.store.refuses("403 "),
                        "a/credential", "is not answered as S3 answers (403)", "mend the port"),
                new Case("a bucket that is not there", it -> it.options.add("--bucket=a=none"),
                        "a/bucket", "none is not there", "aws s3 mb s3://none"),
                new Case("a port that is taken",
                        it -> it.health = "127.0.0.1:" + it.someonesPort(),
                        "gateway.health", "is taken", "ss -ltnp"),
                new Case("an address of another machine",
                        it -> it.health = "192.0.2.1:9901", "gateway.health",
                        "192.0.2.1:9901", "name an address of this machine"),
                new Case("an expired certificate of its own",
                        it -> it.gateway = "tls: {certificate: " + pairs.certificate("expired")
                                + ", key: " + pairs.key("expired") + "}",
                        "gateway.tls", "expired", "write the certificate"),
                new Case("another certificate's key",
                        it -> it.gateway = "tls: {certificate: " + pairs.certificate("good")
                                + ", key: " + pairs.key("elsewhere") + "}",
                        "gateway.tls", "the key is not the certificate's", "its key anew"),
                new Case("a policy that is no policy",
                        it -> it.gateway = "policy: " + Files.writeString(
                                it.folder.resolve("policy.json"), "{\"Statement\": 1}"),
                        "policy", "policy.json", "mend that line"));
    }

    private int someonesPort() throws IOException {
        return opened(new ServerSocket(0, 1, InetAddress.getLoopbackAddress())).getLocalPort();
    }

    @ParameterizedTest
    @MethodSource("failing")
    void whatStopsAGatewayFailsWithCauseAndMend(Case each) throws Exception {
        each.wrong().make(this);
        Outcome outcome = examine();

        assertThat(outcome.status()).as(outcome.text()).isEqualTo(1);
        assertThat(outcome.json().path("fine").booleanValue()).isFalse();
        JsonNode finding = outcome.failed()
                .stream()
                .filter(failed -> failed.path("subject").asText().equals(each.subject()))
                .findFirst()
                .orElseThrow(() -> new AssertionError(outcome.text()));
        assertThat(finding.path("found").asText()).contains(each.cause());
        assertThat(finding.path("mend").asText()).contains(each.mend());
        assertThat(outcome.text()).doesNotContain("very-secret");
    }

    static Stream<Case> remarked() {
        return Stream.of(
                new Case("credentials that everybody may read",
                        it -> it.options.add("open credentials"), "credentials",
                        "may be read or written by every user", "chmod o="),
                new Case("a clock that is not kept", it -> it.store.ahead(Duration.ofSeconds(-90)),
                        "a/clock", "ahead of 127.0.0.1", "timedatectl"),
                new Case("a bucket that may not be listed", it -> {
                    it.store.refuses("403 AccessDenied");
                    it.options.add("--bucket=a=data");
                }, "a/bucket", "nobody that was tried may list data", "s3:ListBucket"),
                new Case("a store that ignores If-Match", it -> it.store.ignoresIfMatch(),
                        "a/abilities", "ignores If-Match on a ranged GET: nothing of it is cached",
                        "take a proxy out"),
                new Case("an adapter that nobody uses", it -> it.machine.roce("9000"), "verbs",
                        "switched off", "rdma.verbs.enabled: true"));
    }

    @ParameterizedTest
    @MethodSource("remarked")
    void whatOnlyCostsIsPointedOutAndExitsWell(Case each) throws Exception {
        each.wrong().make(this);
        Outcome outcome = examine();

        assertThat(outcome.status()).as(outcome.text()).isZero();
        JsonNode finding = outcome.marked("warn")
                .stream()
                .filter(warned -> warned.path("subject").asText().equals(each.subject()))
                .findFirst()
                .orElseThrow(() -> new AssertionError(outcome.text()));
        assertThat(finding.path("found").asText()).contains(each.cause());
        assertThat(finding.path("mend").asText()).contains(each.mend());
    }

    @Test
    void whereAllIsWellNothingFailsAndNothingIsWritten() throws Exception {
        tls("good");
        backend = "ca: " + pairs.certificate("good") + ", probe_bucket: data";
        Outcome outcome = examine();

        assertThat(outcome.status()).as(outcome.text()).isZero();
        assertThat(outcome.marked("ok")).extracting(node -> node.path("subject").asText())
                .contains("credentials", "a/tcp", "a/tls", "a/clock", "a/credential", "a/bucket",
                        "a/abilities", "gateway.listen");
        assertThat(outcome.err()).isEmpty();
        assertThat(store.methods()).isNotEmpty().containsOnly("GET", "HEAD");
    }

    /** Ten at once: none hides another. Once more for people. */
    @Test
    void aMachineThatIsWrongInTenWaysIsToldAllTen() throws Exception {
        machine.limits("8388608", "300");
        machine.write("proc/meminfo", "MemAvailable: 1048576 kB\n");
        cache = "2GiB, lock: true";
        rdma = "verbs: {enabled: true}, loopback: {socket: /none/at/all/l.sock}";
        store.ahead(Duration.ofHours(-3)).refuses("403 InvalidAccessKeyId");
        options.add("open credentials");
        gateway = "policy: " + Files.writeString(folder.resolve("policy.json"), "[]")
                + ", tls: {certificate: " + pairs.certificate("expired") + ", key: "
                + pairs.key("expired") + "}";
        Outcome outcome = examine();

        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.failed()).extracting(node -> node.path("subject").asText())
                .contains("memory", "memlock", "descriptors", "devices", "loopback", "policy",
                        "gateway.tls", "a/clock", "a/credential");
        assertThat(outcome.marked("warn")).extracting(node -> node.path("subject").asText())
                .contains("credentials");
        assertThat(outcome.json().path("failed").asInt()).isEqualTo(outcome.failed().size());

        options.remove("--json");
        StringWriter text = new StringWriter();
        assertThat(line(text, new StringWriter()).execute(command().toArray(String[]::new)))
                .isEqualTo(1);
        assertThat(text.toString().lines().filter(line -> line.startsWith("fail")))
                .hasSameSizeAs(outcome.failed());
        assertThat(text.toString()).contains("mend: LimitNOFILE=", outcome.failed().size()
                + " to mend");
    }

    @Test
    void misuseIsTold() throws Exception {
        StringWriter err = new StringWriter();
        assertThat(line(new StringWriter(), err).execute("doctor", "--bucket", "data"))
                .isEqualTo(2);
        assertThat(line(new StringWriter(), err).execute("doctor", "--config",
                config().toString(), "--bucket", "b=data")).isEqualTo(2);
        assertThat(err.toString()).contains("is not BACKEND=BUCKET",
                "there is no backend 'b' among a");
    }

    /** The log of what it uses goes elsewhere. */
    @Test
    void aProgramReadsOneDocumentFromStandardOutput() throws Exception {
        store.close();
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                        System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1",
                        Main.class.getName()));
        options.add("--json");
        command.addAll(command());
        Process process = new ProcessBuilder(command)
                .redirectError(folder.resolve("err").toFile())
                .start();
        JsonNode json = new ObjectMapper().readTree(
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(1);
        assertThat(json.path("version").asInt()).isEqualTo(1);
        assertThat(json.path("findings").findValuesAsText("subject")).contains("a/tcp");
    }
}
