package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the command line says and leaves where a store takes no part of an upload. */
class PutResumeTest {
    private static final long BYTES = (64L << 20) + 1;

    @TempDir
    Path folder;

    private final StringWriter err = new StringWriter();
    private final AtomicInteger aborted = new AtomicInteger();
    private Path file;
    private HttpServer store;

    @BeforeEach
    void start() throws IOException {
        System.setProperty("aws.accessKeyId", "AKID");
        System.setProperty("aws.secretAccessKey", "secret");
        store = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        store.createContext("/", this::serve);
        store.start();
        file = folder.resolve("large");
        try (RandomAccessFile empty = new RandomAccessFile(file.toFile(), "rw")) {
            empty.setLength(BYTES);
        }
    }

    @AfterEach
    void stop() {
        store.stop(0);
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            switch (exchange.getRequestMethod()) {
                case "POST" -> send(exchange, 200, "<R><UploadId>id</UploadId></R>");
                case "PUT" -> send(exchange, 403,
                        "<Error><Code>AccessDenied</Code><Message>not you</Message></Error>");
                default -> {
                    aborted.incrementAndGet();
                    exchange.sendResponseHeaders(204, -1);
                }
            }
        }
    }

    private static void send(HttpExchange exchange, int status, String document)
            throws IOException {
        byte[] body = document.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    private int put(String... options) {
        CommandLine line = Main.commandLine();
        line.setErr(new PrintWriter(err, true));
        Stream<String> arguments = Stream.of("put",
                "--endpoint=http://127.0.0.1:" + store.getAddress().getPort(), file.toString(),
                "s3://b/k");
        return line.execute(Stream.concat(arguments, Stream.of(options)).toArray(String[]::new));
    }

    private List<String> beside() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(other -> !other.equals(file))
                    .map(other -> other.getFileName().toString())
                    .toList();
        }
    }

    @Test
    void whatCanGoOnIsSaidInOneLine() throws IOException {
        assertThat(put("--resume")).isEqualTo(1);

        assertThat(err.toString().strip()).isEqualTo("railhead: AccessDenied: not you; what was"
                + " sent is kept: the same command goes on with it");
        assertThat(beside()).singleElement().asString().matches("\\.large\\.[0-9a-f]{8}\\.upload");
        assertThat(aborted).hasValue(0);
    }

    @Test
    void withoutItNothingIsKept() throws IOException {
        assertThat(put()).isEqualTo(1);

        assertThat(err.toString().strip()).isEqualTo("railhead: AccessDenied: not you");
        assertThat(beside()).isEmpty();
        assertThat(aborted).hasValue(1);
    }
}
