package io.railhead.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** A real S3 store (s3proxy) as its own process on the loopback address, for tests. */
final class StoreProcess implements AutoCloseable {
    static final String ACCESS_KEY = "AKIDTEST";
    static final String SECRET_KEY = "test-secret";

    private final Process process;
    private final URI endpoint;

    StoreProcess(Path folder) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        endpoint = URI.create("http://127.0.0.1:" + port);
        Path properties = folder.resolve("s3proxy.properties");
        Files.write(properties,
                List.of("s3proxy.endpoint=" + endpoint, "s3proxy.authorization=aws-v2-or-v4",
                        "s3proxy.identity=" + ACCESS_KEY, "s3proxy.credential=" + SECRET_KEY,
                        "s3proxy.ignore-unknown-headers=true", "jclouds.provider=transient-nio2",
                        "jclouds.identity=local", "jclouds.credential=local",
                        "jclouds.filesystem.basedir=/"));
        process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
                "-jar", Path.of("target", "s3proxy", "s3proxy.jar").toAbsolutePath().toString(),
                "--properties", properties.toString()).redirectErrorStream(true)
                .redirectOutput(folder.resolve("s3proxy.log").toFile())
                .start();
        awaitAnswer(folder);
    }

    private void awaitAnswer(Path folder) throws IOException {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!answers()) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                String log = Files.readString(folder.resolve("s3proxy.log"));
                close();
                throw new IOException("s3proxy does not answer: " + log);
            }
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
    }

    private boolean answers() {
        try {
            HttpURLConnection probe = (HttpURLConnection) endpoint.toURL().openConnection();
            probe.setConnectTimeout(1000);
            probe.setReadTimeout(5000);
            return probe.getResponseCode() > 0;
        } catch (IOException e) {
            return false;
        }
    }

    URI endpoint() {
        return endpoint;
    }

    ClientConfig config() {
        return ClientConfig.of(endpoint, "us-east-1", StaticCredentialsProvider
                .create(AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY)));
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted", e));
        }
    }
}
