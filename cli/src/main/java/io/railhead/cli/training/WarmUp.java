package io.railhead.cli.training;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;

/**
 * Has the JVM compile the paths of requests before the gateway listens: a second gateway over a
 * store in memory serves requests of this process for a moment, and is gone. It listens on a free
 * port of the loopback address, with a key made for it. Blocking.
 */
public final class WarmUp {
    private static final int CONNECTIONS = 2;
    private static final SecureRandom RANDOM = new SecureRandom();

    private WarmUp() {}

    /**
     * Serves requests for a time, and returns their number. A connection that gets no response is
     * given up.
     *
     * @throws UncheckedIOException if no folder for temporary files can be written to
     */
    public static long run(Duration most) {
        AwsBasicCredentials key = AwsBasicCredentials.create("WARMUPACCESSKEY",
                new BigInteger(160, RANDOM).toString(Character.MAX_RADIX));
        try {
            Path folder = Files.createTempDirectory(
                    "railhead-warm-up-" + ProcessHandle.current().pid() + "-");
            // Also after a signal in the middle.
            folder.toFile().deleteOnExit();
            Path credentials = write(folder, key);
            credentials.toFile().deleteOnExit();
            try (TrainingStore store = new TrainingStore();
                    CredentialStore known = CredentialStore.load(credentials);
                    Gateway gateway = Gateway.start(
                            ConfigLoader.parse(folder.resolve("railhead.yaml"),
                                    config(store.port()).getBytes(ISO_8859_1)),
                            known)) {
                return requests(gateway.port(), key, System.nanoTime() + most.toNanos());
            } finally {
                Files.deleteIfExists(credentials);
                Files.deleteIfExists(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ConfigException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path write(Path folder, AwsBasicCredentials key) throws IOException {
        Path credentials = Files.createFile(folder.resolve("credentials.yaml"), PosixFilePermissions
                .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(credentials, """
                principals:
                  - name: warm-up
                    keys: [{access_key: %s, secret_key: %s}]
                """.formatted(key.accessKeyId(), key.secretAccessKey()));
    }

    private static String config(int storePort) {
        return """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: credentials.yaml, drain: 1s}
                cache: {memory: 32MiB}
                backends:
                  store: {endpoints: ["http://127.0.0.1:%d"], region: us-east-1}
                rules:
                  - {bucket: "*", freshness: immutable, authorization: {remember: 10m}}
                rdma: {loopback: {enabled: false}}
                admin: {enabled: false}
                """
                .formatted(storePort);
    }

    private static long requests(int port, AwsBasicCredentials key, long end) {
        AtomicLong served = new AtomicLong();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread[] clients = new Thread[CONNECTIONS];
        for (int i = 0; i < CONNECTIONS; i++) {
            int number = i;
            clients[i] = Thread.ofPlatform().daemon().name("warm-up-" + i).start(() -> {
                try (WarmUpConnection connection = new WarmUpConnection(port, key, number)) {
                    while (System.nanoTime() < end) {
                        served.addAndGet(connection.round(end));
                    }
                } catch (IOException | RuntimeException | Error e) {
                    failure.set(e);
                }
            });
        }
        for (Thread client : clients) {
            join(client);
        }
        Throwable last = failure.get();
        if (last != null && served.get() == 0) {
            throw new IllegalStateException("none of its requests was served", last);
        }
        return served.get();
    }

    private static void join(Thread client) {
        try {
            client.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
