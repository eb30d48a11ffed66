package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** {@code railhead serve} as a process of its own, which ends with this. */
public final class GatewayProcess implements AutoCloseable {
    private static final Pattern PORTS = Pattern.compile(
            "serves S3 on 127\\.0\\.0\\.1:(\\d+)(?: over TLS)?, health and metrics on 127\\.0\\.0\\.1:(\\d+)");
    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");

    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Process process;
    private final int port;
    private final URI health;
    private final Path log;
    private final HttpClient http = HttpClient.newHttpClient();

    private GatewayProcess(Process process, Matcher ports, Path log) {
        this.process = process;
        this.port = Integer.parseInt(ports.group(1));
        this.health = URI.create("http://127.0.0.1:" + ports.group(2));
        this.log = log;
    }

    /** Returns once it serves. */
    public static GatewayProcess start(Path config, String... options) throws IOException {
        return start(config, Map.of(), options);
    }

    /** With these variables, too. */
    public static GatewayProcess start(Path config, Map<String, String> environment,
            String... options)
            throws IOException {
        Process process = launch(config, environment, options);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (process.isAlive() && System.nanoTime() < deadline) {
            Matcher ports = PORTS.matcher(Files.readString(log(config)));
            if (ports.find()) {
                return new GatewayProcess(process, ports, log(config));
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        process.destroyForcibly();
        throw new AssertionError("it does not serve: " + Files.readString(log(config)));
    }

    /** One that may not come to serving; what it says goes to {@link #log(Path)}. */
    static Process launch(Path config, String... options) throws IOException {
        return launch(config, Map.of(), options);
    }

    private static Process launch(Path config, Map<String, String> environment,
            String... options) throws IOException {
        // The default port of administration is one for all that run side by side.
        if (!Files.readString(config).contains("admin:")) {
            Files.writeString(config, "\nadmin: {enabled: false}\n", StandardOpenOption.APPEND);
        }
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"),
                ServeMain.class.getName(), config.toString()));
        ProcessBuilder process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log(config).toFile());
        process.environment().putAll(environment);
        return process.start();
    }

    static Path log(Path config) {
        return Path.of(config + ".log");
    }

    /** Returns a port that nobody listens on now, another one at each call. */
    public static int freePort() throws IOException {
        while (true) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (GIVEN.add(socket.getLocalPort())) {
                    return socket.getLocalPort();
                }
            }
        }
    }

    int port() {
        return port;
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** Whether it wants new requests. */
    public boolean isReady() {
        return ask("/readyz").statusCode() == 200;
    }

    /** As {@link TestGateway#metric(String)}. */
    public double metric(String series) {
        return TestGateway.metric(ask("/metrics").body(), series);
    }

    private HttpResponse<String> ask(String path) {
        return http.sendAsync(HttpRequest.newBuilder(health.resolve(path)).build(),
                HttpResponse.BodyHandlers.ofString())
                .join();
    }

    /** All that it said. */
    public String log() throws IOException {
        return Files.readString(log);
    }

    public void terminate() throws InterruptedException {
        drain();
        awaitEnd();
    }

    /** As an orchestrator does; what is under way is finished. */
    void drain() {
        process.destroy();
    }

    void hangUp() throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("sh", "-c", "kill -HUP " + process.pid()).start()
                .waitFor()).isZero();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void awaitEnd() throws InterruptedException {
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
        assertThat(process.exitValue()).isZero();
    }

    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    public long residentBytes() {
        try {
            Matcher line = RESIDENT.matcher(
                    Files.readString(Path.of("/proc/" + process.pid() + "/status")));
            assertThat(line.find()).isTrue();
            return Long.parseLong(line.group(1)) << 10;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a collection of everything leaves. */
    public long liveHeapBytes() throws IOException, InterruptedException {
        Path java = Path.of(ProcessHandle.current().info().command().orElseThrow());
        Process collection = new ProcessBuilder(java.resolveSibling("jcmd").toString(),
                Long.toString(process.pid()), "GC.run")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(collection.waitFor()).as("jcmd GC.run").isZero();
        return (long) metric("jvm_memory_bytes_used{area=\"heap\",}");
    }

    public long descriptors() {
        try (Stream<Path> open = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
            return open.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        http.close();
    }
}
