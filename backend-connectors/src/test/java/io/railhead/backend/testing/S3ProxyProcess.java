package io.railhead.backend.testing;

import io.railhead.backend.Caller;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A real S3 server, s3proxy, with its objects in memory, as a process of its own on a port that it
 * chose itself. Closing it ends the process and deletes its files.
 */
public final class S3ProxyProcess implements AutoCloseable {
    private static final Pattern LISTENING = Pattern
            .compile("Started .*ServerConnector.*\\{127\\.0\\.0\\.1:(\\d+)}");
    private static final int KEPT_LINES = 40;
    private static final long START_SECONDS = 60;

    private final Caller.Credential credential = new Caller.Credential("railhead-identity",
            "railhead-credential", null);
    private final Path directory;
    private final Process process;
    private final ConcurrentLinkedDeque<String> lastLines = new ConcurrentLinkedDeque<>();
    private final CompletableFuture<Integer> port = new CompletableFuture<>();

    /**
     * Starts it and waits until it listens.
     *
     * @param jar s3proxy with its dependencies
     */
    public S3ProxyProcess(Path jar) {
        try {
            directory = Files.createTempDirectory("s3proxy");
            process = start(jar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::readOutput);
        awaitPort();
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + port.join());
    }

    /** The one identity that it knows. */
    public Caller.Credential credential() {
        return credential;
    }

    public long pid() {
        return process.pid();
    }

    private Process start(Path jar) throws IOException {
        Path objects = Files.createDirectory(directory.resolve("objects"));
        Path properties = directory.resolve("s3proxy.conf");
        Files.write(properties, List.of("s3proxy.endpoint=http://127.0.0.1:0",
                "s3proxy.authorization=aws-v2-or-v4", "s3proxy.identity=" + credential.accessKey(),
                "s3proxy.credential=" + credential.secretKey(),
                "s3proxy.ignore-unknown-headers=true", "jclouds.provider=transient-nio2",
                "jclouds.identity=unused", "jclouds.credential=unused",
                "jclouds.filesystem.basedir=" + objects));
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        return new ProcessBuilder(java.toString(), "-Xmx512m", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-jar", jar.toAbsolutePath().toString(), "--properties",
                properties.toString()).redirectErrorStream(true).start();
    }

    private void readOutput() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                lastLines.add(line);
                if (lastLines.size() > KEPT_LINES) {
                    lastLines.poll();
                }
                Matcher matcher = LISTENING.matcher(line);
                if (matcher.find()) {
                    port.complete(Integer.valueOf(matcher.group(1)));
                }
            }
            port.completeExceptionally(new IllegalStateException("s3proxy ended"));
        } catch (IOException e) {
            port.completeExceptionally(e);
        }
    }

    private void awaitPort() {
        try {
            port.get(START_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            close();
            throw new IllegalStateException(
                    "s3proxy did not start:\n" + String.join("\n", lastLines), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new IllegalStateException("interrupted while s3proxy started", e);
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
