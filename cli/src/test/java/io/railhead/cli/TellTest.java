package io.railhead.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What get, put, ls and serve --check tell of their success, to people and to programs. */
class TellTest {
    private static final String LISTED = """
            <ListBucketResult><Contents><Key>a b</Key><Size>45340</Size>\
            <LastModified>2026-11-02T10:00:00.000Z</LastModified><ETag>"e"</ETag></Contents>\
            <IsTruncated>false</IsTruncated></ListBucketResult>""";

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private HttpServer gateway;

    @BeforeEach
    void start() throws IOException {
        System.setProperty("aws.accessKeyId", "A");
        System.setProperty("aws.secretAccessKey", "s");
        gateway = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        gateway.createContext("/", TellTest::answer);
        gateway.start();
    }

    @AfterEach
    void stop() {
        gateway.stop(0);
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            if (exchange.getRequestURI().getPath().equals("/.railhead/warm")) {
                warm(exchange);
                return;
            }
            boolean lists = String.valueOf(exchange.getRequestURI().getQuery()).contains("list");
            byte[] body = lists ? LISTED.getBytes(UTF_8) : new byte[45_340];
            exchange.getResponseHeaders().set("ETag", "\"e\"");
            exchange.getResponseHeaders().set("X-Cache", "HIT");
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.getResponseHeaders().set("Content-Length", "45340");
            }
            boolean hasBody = exchange.getRequestMethod().equals("GET");
            exchange.sendResponseHeaders(200, hasBody ? body.length : -1);
            if (hasBody) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    private static void warm(HttpExchange exchange) throws IOException {
        if (exchange.getRequestURI().getQuery().contains("key=denied")) {
            byte[] refusal = "<Error><Code>AccessDenied</Code></Error>".getBytes(UTF_8);
            exchange.sendResponseHeaders(403, refusal.length);
            exchange.getResponseBody().write(refusal);
            return;
        }
        boolean isHeld = exchange.getRequestURI().getQuery().contains("key=a b");
        byte[] body = ("{\"state\":\"running\"}\n{\"state\":\""
                + (isHeld ? "filled" : "not_cached")
                + "\",\"bytes\":7,\"reason\":\"\"}\n").getBytes(UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }

    private int run(String... words) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(words);
    }

    private String endpoint() {
        return "http://127.0.0.1:" + gateway.getAddress().getPort();
    }

    private int transfer(String command, String... words) {
        String[] all = new String[words.length + 3];
        all[0] = command;
        all[1] = "--endpoint";
        all[2] = endpoint();
        System.arraycopy(words, 0, all, 3, words.length);
        return run(all);
    }

    private JsonNode json() throws IOException {
        assertThat(out.toString().lines()).hasSize(1);
        return new ObjectMapper().readTree(out.toString());
    }

    @Test
    void aReadSaysBytesTimeWayAndCache() {
        assertThat(transfer("get", "-v", "-o", folder.resolve("k").toString(), "s3://b/k"))
                .as(err.toString())
                .isZero();

        assertThat(err.toString()).matches("45,340 bytes, [\\d,]+ ms, http, hit\\R");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aWriteSaysBytesTimeAndWay() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[1234]);

        assertThat(transfer("put", "-v", file.toString(), "s3://b/k")).as(err.toString())
                .isZero();

        assertThat(err.toString()).matches("1,234 bytes, [\\d,]+ ms, http\\R");
    }

    @Test
    void nobodyIsToldWhereNobodyWatches() {
        assertThat(transfer("get", "-o", folder.resolve("k").toString(), "s3://b/k")).isZero();
        assertThat(transfer("ls", "s3://b")).isZero();

        assertThat(err.toString()).isEmpty();
    }

    @Test
    void aProgramReadsJson() throws IOException {
        assertThat(transfer("get", "--json", "-o", folder.resolve("k").toString(), "s3://b/k"))
                .isZero();
        JsonNode read = json();
        assertThat(read.get("url").asText()).isEqualTo("s3://b/k");
        assertThat(read.get("bytes").asLong()).isEqualTo(45_340);
        assertThat(read.get("via").asText()).isEqualTo("http");
        assertThat(read.get("cache").asText()).isEqualTo("hit");
        assertThat(read.get("etag").asText()).isEqualTo("\"e\"");
        assertThat(read.get("millis").isIntegralNumber()).isTrue();

        out.getBuffer().setLength(0);
        assertThat(transfer("put", "--json", folder.resolve("k").toString(), "s3://b/dir/"))
                .isZero();
        assertThat(json().get("url").asText()).isEqualTo("s3://b/dir/k");

        out.getBuffer().setLength(0);
        assertThat(transfer("ls", "--json", "s3://b")).isZero();
        assertThat(json().get("key").asText()).isEqualTo("a b");
        assertThat(json().get("bytes").asLong()).isEqualTo(45_340);
        assertThat(json().get("last_modified").asText()).isEqualTo("2026-11-02T10:00:00.000Z");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void aListSaysHowMuchThereIs() {
        assertThat(transfer("ls", "-v", "s3://b")).isZero();

        assertThat(err.toString()).matches("1 objects, 45,340 bytes, [\\d,]+ ms, http\\R");
    }

    @Test
    void theStandardOutputIsTheObjectsAlone() {
        assertThat(transfer("get", "--json", "-o", "-", "s3://b/k")).isEqualTo(2);
        assertThat(err.toString()).contains("--json needs a file");
    }

    @Test
    void aCheckIsJson() throws IOException {
        Path config = folder.resolve("railhead.yaml");
        Files.writeString(config, "gateway: {nosuch: 1}\n");
        assertThat(run("serve", "--check", "--json", "--config", config.toString())).isEqualTo(1);
        JsonNode bad = new ObjectMapper().readTree(out.toString());
        assertThat(bad.get("good").asBoolean()).isFalse();
        assertThat(bad.get("error").asText()).contains("railhead.yaml");
        assertThat(err.toString()).isEmpty();

        assertThat(run("serve", "--json", "--config", config.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("--json goes with --check");
    }

    @Test
    void whatWasPrefetchedIsSaid() {
        assertThat(transfer("prefetch", "s3://b")).as(err.toString()).isZero();
        assertThat(out.toString()).isEqualTo("filled\t           7\ts3://b/a b\n");

        out.getBuffer().setLength(0);
        assertThat(transfer("prefetch", "--json", "s3://b/other")).isEqualTo(1);
        assertThat(out.toString()).isEqualTo("{\"url\":\"s3://b/other\",\"state\":\"not_cached\","
                + "\"bytes\":7,\"reason\":\"\"}\n");
        assertThat(transfer("prefetch", "--concurrency", "0", "s3://b/k")).isEqualTo(2);
    }

    @Test
    void anObjectThatIsDeniedKeepsNoneOfTheOthersAway() {
        assertThat(transfer("prefetch", "s3://b/denied", "s3://b/a b")).isEqualTo(1);
        assertThat(out.toString()).contains("failed", "AccessDenied",
                "filled\t           7\ts3://b/a b");
    }

    @Test
    void partsThatDifferAreCounted() {
        assertThat(Transferred.cache(Map.of("hit", 9L))).isEqualTo("hit");
        assertThat(Transferred.cache(new TreeMap<>(Map.of("miss", 1L, "hit", 2L))))
                .isEqualTo("2 hit + 1 miss");
        assertThat(Transferred.cache(Map.of("none", 2L))).isEmpty();
        assertThat(Transferred.cache(Map.of())).isEmpty();
    }

    @Test
    void onlyWhatTakesLongerThanASecondHasABar() {
        AtomicLong now = new AtomicLong();
        try (ProgressLine bar = new ProgressLine(new PrintWriter(err, true), true, now::get)) {
            bar.expect(4 << 20);
            now.set(900_000_000);
            bar.advance(1 << 20);
            assertThat(err.toString()).isEmpty();
            now.set(2_000_000_000);
            bar.advance(1 << 20);
            assertThat(err.toString()).contains("[############            ] 50 %",
                    "2.0 of 4.0 MiB", "1.0 MiB/s");
        }
        assertThat(err.toString()).endsWith("\r\u001b[K");
    }
}
