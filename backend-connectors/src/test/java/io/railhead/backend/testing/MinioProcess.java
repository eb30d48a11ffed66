package io.railhead.backend.testing;

import io.railhead.backend.Caller;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A MinIO server from a program that is already on this machine. Closing ends and deletes it. */
public final class MinioProcess implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Caller.Credential credential = new Caller.Credential("railhead-identity",
            "railhead-credential", null);
    private final Path directory;
    private final int port;
    private final Process process;

    public MinioProcess(Path program) {
        this(program, Map.of());
    }

    /** @param settings environment variables of MinIO's own */
    public MinioProcess(Path program, Map<String, String> settings) {
        try {
            directory = Files.createTempDirectory("minio");
            port = freePort();
            process = start(program, settings);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        awaitServing();
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + port);
    }

    public Caller.Credential credential() {
        return credential;
    }

    private Process start(Path program, Map<String, String> settings) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(program.toString(), "server", "--quiet",
                "--address", "127.0.0.1:" + port, directory.resolve("data").toString());
        builder.environment().put("MINIO_ROOT_USER", credential.accessKey());
        builder.environment().put("MINIO_ROOT_PASSWORD", credential.secretKey());
        builder.environment().put("MINIO_BROWSER", "off");
        builder.environment().put("MINIO_UPDATE", "off");
        builder.environment().putAll(settings);
        return builder.redirectErrorStream(true)
                .redirectOutput(directory.resolve("minio.log").toFile())
                .start();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitServing() {
        long deadline = System.nanoTime() + START.toNanos();
        while (!isServing()) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                String log = log();
                close();
                throw new IllegalStateException("minio did not start:\n" + log);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /** It listens before it serves: until then every request is answered 503. */
    private boolean isServing() {
        return status("/minio/health/cluster") == 200 && status("/") == 403;
    }

    private int status(String path) {
        try {
            HttpURLConnection connection = (HttpURLConnection) endpoint().resolve(path)
                    .toURL()
                    .openConnection();
            connection.setReadTimeout((int) START.toMillis());
            return connection.getResponseCode();
        } catch (ConnectException _) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String log() {
        try {
            return Files.readString(directory.resolve("minio.log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
