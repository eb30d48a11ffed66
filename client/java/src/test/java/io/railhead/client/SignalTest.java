package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.SequenceInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Clients in processes of their own that a signal ends in the middle of a transfer. */
@Timeout(120)
class SignalTest {
    private static final int PART = 16 << 20;
    private static final ObjectName NAME = new ObjectName("bucket", "key");

    @TempDir
    Path folder;

    private final CountDownLatch inTheMiddle = new CountDownLatch(1);
    private final CountDownLatch isOver = new CountDownLatch(1);
    private final Queue<String> aborted = new ConcurrentLinkedQueue<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private HttpServer store;

    @BeforeEach
    void start() throws IOException {
        store = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        store.setExecutor(threads);
        store.createContext("/", this::handle);
        store.start();
    }

    @AfterEach
    void stop() {
        isOver.countDown();
        store.stop(0);
        threads.close();
    }

    /** Takes uploads and gives half of an object, and then leaves the client waiting. */
    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String query = String.valueOf(exchange.getRequestURI().getQuery());
            switch (exchange.getRequestMethod()) {
                case "POST" -> {
                    byte[] document = "<R><UploadId>begun</UploadId></R>".getBytes(UTF_8);
                    exchange.sendResponseHeaders(200, document.length);
                    exchange.getResponseBody().write(document);
                }
                case "DELETE" -> {
                    aborted.add(query);
                    exchange.sendResponseHeaders(204, -1);
                }
                case "GET" -> {
                    exchange.getResponseHeaders().set("ETag", "\"one\"");
                    exchange.getResponseHeaders().set("Content-Range", "bytes 0-999/1000");
                    exchange.sendResponseHeaders(206, 1000);
                    exchange.getResponseBody().write(new byte[500]);
                    exchange.getResponseBody().flush();
                    stall();
                }
                default -> stall();
            }
        }
    }

    private void stall() {
        inTheMiddle.countDown();
        try {
            isOver.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What the process does that is ended. */
    static final class Transfer {
        private Transfer() {}

        public static void main(String[] words) throws IOException {
            ClientConfig config = ClientConfig.of(URI.create(words[0]), "us-east-1",
                    StaticCredentialsProvider.create(AwsBasicCredentials.create("A", "s")));
            Path file = Path.of(words[2]);
            try (RailheadClient client = RailheadClient.connect(config)) {
                switch (words[1]) {
                    case "get" -> client.get(NAME, file, Progress.NONE);
                    case "put" -> client.put(file, NAME, Progress.NONE);
                    default -> client.put(new SequenceInputStream(
                            new ByteArrayInputStream(new byte[PART + 1]), System.in), NAME,
                            Progress.NONE);
                }
            }
        }
    }

    private void endInTheMiddle(String what, Path file, String signal) throws Exception {
        // Signals that this process ignores, as under nohup, would be ignored there too.
        Process process = new ProcessBuilder("env", "--default-signal",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), Transfer.class.getName(),
                "http://127.0.0.1:" + store.getAddress().getPort(), what, file.toString())
                .inheritIO()
                .redirectInput(ProcessBuilder.Redirect.PIPE)
                .start();
        try {
            while (!inTheMiddle.await(100, TimeUnit.MILLISECONDS)) {
                assertThat(process.isAlive()).isTrue();
            }
            assertThat(new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid())
                    .inheritIO()
                    .start()
                    .waitFor()).isZero();
            assertThat(process.waitFor()).isGreaterThan(128);
        } finally {
            process.destroyForcibly();
        }
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT", "HUP"})
    void aDownloadLeavesNothingBesideItsFile(String signal) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "older");

        endInTheMiddle("get", file, signal);

        assertThat(left()).containsExactly(file);
        assertThat(file).hasContent("older");
    }

    @ParameterizedTest
    @CsvSource({"TERM, put", "INT, put", "TERM, stream"})
    void anUploadOfPartsIsAborted(String signal, String what) throws Exception {
        Path file = Files.write(folder.resolve("file"),
                new byte[(int) UploadSizes.DEFAULT.singlePutBytes() + 1]);

        endInTheMiddle(what, file, signal);

        assertThat(aborted).containsExactly("uploadId=begun");
    }
}
