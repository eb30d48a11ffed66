package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What the command line says where an endpoint is a plain store that opens no sessions. */
class FallbackTest {
    private static final byte[] OBJECT = "an object".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private final StringWriter err = new StringWriter();
    private HttpServer store;

    @BeforeEach
    void start() throws IOException {
        System.setProperty("aws.accessKeyId", "AKID");
        System.setProperty("aws.secretAccessKey", "secret");
        store = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        store.createContext("/", this::serve);
        store.start();
    }

    @AfterEach
    void stop() {
        store.stop(0);
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("ETag", "\"v1\"");
            switch (exchange.getRequestMethod()) {
                case "GET" -> {
                    exchange.getResponseHeaders()
                            .set("Content-Range",
                                    "bytes 0-" + (OBJECT.length - 1) + "/" + OBJECT.length);
                    exchange.sendResponseHeaders(206, OBJECT.length);
                    exchange.getResponseBody().write(OBJECT);
                }
                case "HEAD" -> {
                    exchange.getResponseHeaders()
                            .set("Content-Length",
                                    Integer.toString(OBJECT.length));
                    exchange.sendResponseHeaders(200, -1);
                }
                default -> exchange.sendResponseHeaders(405, -1);
            }
        }
    }

    private int get(String... options) {
        CommandLine line = Main.commandLine();
        line.setErr(new PrintWriter(err, true));
        String[] arguments = new String[options.length + 5];
        arguments[0] = "get";
        arguments[1] = "--endpoint=http://127.0.0.1:" + store.getAddress().getPort();
        arguments[2] = "-o";
        arguments[3] = folder.resolve("received").toString();
        arguments[4] = "s3://b/k";
        System.arraycopy(options, 0, arguments, 5, options.length);
        return line.execute(arguments);
    }

    @ParameterizedTest
    @ValueSource(strings = {"loopback", "verbs", "token"})
    void whatWentOverHttpIsSaidWithItsReason(String via) {
        assertThat(get("--via", via)).isZero();

        assertThat(folder.resolve("received")).hasBinaryContent(OBJECT);
        assertThat(err.toString().strip())
                .startsWith("railhead: 1 of 1 parts went over HTTP: not available: ")
                .doesNotContain("\n");
    }

    @Test
    void withoutFallbackItIsOneLineThatSaysWhy() {
        assertThat(get("--via", "loopback", "--no-fallback")).isEqualTo(1);

        assertThat(err.toString().strip())
                .startsWith("railhead: not served via loopback: not available: ")
                .contains("opens no loopback session")
                .doesNotContain("\n");
        assertThat(folder.resolve("received")).doesNotExist();
    }

    @Test
    void overHttpNothingIsSaid() {
        assertThat(get()).isZero();
        assertThat(err.toString()).isEmpty();
    }
}
