package io.railhead.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands about pending writes, and what they make of a gateway's answers. */
class PendingCommandsTest {
    /** The ETags are MD5s of "hello" and "abc". */
    private static final String OBJECT = "{\"bucket\":\"b\",\"key\":\"k\",\"etag\":\"\\\"5d41402abc4b2a76b9719d911017c592\\\"\",\"bytes\":5,\"headers\":{},\"parts\":[]}\n";
    private static final String PARTS = "{\"bucket\":\"b\",\"key\":\"k\",\"etag\":\"\",\"bytes\":8,\"headers\":{},\"parts\":[{\"number\":1,\"bytes\":5,\"etag\":\"\\\"5d41402abc4b2a76b9719d911017c592\\\"\"},{\"number\":3,\"bytes\":3,\"etag\":\"\\\"900150983cd24fb0d6963f7d28e17f72\\\"\"}]}\n";

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private HttpServer port;
    private volatile String answer = "{}";
    private volatile int lacking;

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
            exchange.getRequestBody().readAllBytes();
            byte[] body = answer.getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length + lacking);
            exchange.getResponseBody().write(body);
        }
    }

    private int run(String... arguments) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        String[] all = new String[arguments.length + 2];
        all[0] = "admin";
        all[1] = arguments[0];
        all[2] = "--endpoint=http://127.0.0.1:" + port.getAddress().getPort();
        System.arraycopy(arguments, 1, all, 3, arguments.length - 1);
        return line.execute(all);
    }

    private int export(Path to) {
        return run("export", "s3://b/k", "--id", "1-2", "-o", to.toString());
    }

    @Test
    void pendingShowsTheIdAndTheProblemOfEach() {
        answer = "{\"pending\":[{\"id\":\"7-99\",\"bucket\":\"b\",\"key\":\"a/k\",\"principal\":\"trainer\","
                + "\"bytes\":1048576,\"since\":\"2026-11-27T08:00:00Z\","
                + "\"problem\":\"the store answered 403\"}],\"uploads\":[{\"id\":\"u\",\"bucket\":\"b\","
                + "\"key\":\"m\",\"principal\":\"trainer\",\"parts\":2,\"bytes\":10,"
                + "\"since\":\"2026-11-27T09:00:00Z\"}],\"objects\":1,\"bytes\":1048576,\"stuck\":1,"
                + "\"open_uploads\":1}";
        assertThat(run("pending")).isZero();
        assertThat(out.toString().lines()).containsExactly(
                "7-99\t1.0 MiB\t2026-11-27T08:00:00Z\ttrainer\ts3://b/a/k\tthe store answered 403",
                "u\t10 B\t2026-11-27T09:00:00Z\ttrainer\ts3://b/m\topen upload of 2 parts",
                "1 objects pending, 1.0 MiB, 1 buckets held up by a refused write, 1 open uploads");
    }

    @Test
    void aFlushShowsWhatIsLeftAndItsEnd() {
        String running = "{\"state\":\"running\",\"objects\":2,\"bytes\":2048,\"stuck\":0}\n";
        answer = running + running + "{\"state\":\"done\",\"objects\":0,\"bytes\":0,\"stuck\":0}\n";
        assertThat(run("flush")).isZero();
        assertThat(out.toString().lines()).containsExactly("2 objects pending, 2.0 KiB",
                "the stores have it all");
    }

    @Test
    void aFlushThatLostAWriteOrBrokeOffFails() {
        answer = "{\"state\":\"discarded\",\"objects\":0,\"bytes\":0,\"stuck\":0,\"reason\":\"lost\"}\n";
        assertThat(run("flush")).isEqualTo(1);
        assertThat(err.toString().strip()).isEqualTo("railhead: lost");
        answer = "{\"state\":\"running\",\"objects\":2,\"bytes\":2048,\"stuck\":0}\n";
        assertThat(run("flush")).isEqualTo(1);
        assertThat(err.toString()).contains("the gateway broke off");
    }

    @Test
    void aDiscardSaysWhatIsLost() {
        answer = "{\"bucket\":\"b\",\"key\":\"k\",\"principal\":\"trainer\",\"etag\":\"e\",\"bytes\":5,"
                + "\"since\":\"2026-11-27T08:00:00Z\",\"store_upload\":\"up\"}";
        assertThat(run("discard", "s3://b/k", "--id", "1-2")).isZero();
        assertThat(out.toString().lines()).containsExactly(
                "discarded: s3://b/k, 5 B, ETag e, which trainer wrote at 2026-11-27T08:00:00Z",
                "the store may still have the multipart upload up: abort it there");
    }

    @Test
    void anExportIsTwoFilesForItsOwnerAlone() throws IOException {
        answer = OBJECT + "hello";
        Path file = folder.resolve("object");
        assertThat(export(file)).as(err.toString()).isZero();
        assertThat(file).hasContent("hello");
        assertThat(folder.resolve("object.json")).hasContent(OBJECT);
        for (String name : new String[]{"object", "object.json"}) {
            assertThat(Files.getPosixFilePermissions(folder.resolve(name)))
                    .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        }
        assertThat(export(file)).as("never replaced").isEqualTo(1);
        answer = PARTS + "helloabc";
        assertThat(export(folder.resolve("upload"))).as(err.toString()).isZero();
        assertThat(folder.resolve("upload")).hasContent("helloabc");
    }

    @Test
    void anExportThatIsCutOrDamagedLeavesNoFile() throws IOException {
        answer = OBJECT + "hallo";
        assertThat(export(folder.resolve("damaged"))).isEqualTo(1);
        assertThat(err.toString()).contains("does not have the ETag");
        answer = PARTS + "helloabd";
        assertThat(export(folder.resolve("part"))).isEqualTo(1);
        assertThat(err.toString()).contains("part 3 does not have the ETag");
        answer = OBJECT + "hell";
        lacking = 1;
        assertThat(export(folder.resolve("cut"))).isEqualTo(1);
        lacking = 0;
        answer = OBJECT + "hello, and more";
        assertThat(export(folder.resolve("more"))).isEqualTo(1);
        answer = "{}\n";
        assertThat(export(folder.resolve("other"))).isEqualTo(1);
        assertThat(folder).isEmptyDirectory();
    }
}
