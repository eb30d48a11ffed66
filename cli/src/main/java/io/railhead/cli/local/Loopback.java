package io.railhead.cli.local;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;

/** Ports and plain HTTP requests on the loopback address. */
public final class Loopback {
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private Loopback() {}

    /**
     * Returns a port that is free now, another one at each call: the system may give a closed port
     * again. Its user fails clearly if another process takes it first. Any thread.
     */
    public static int freePort() throws IOException {
        while (true) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (GIVEN.add(socket.getLocalPort())) {
                    return socket.getLocalPort();
                }
            }
        }
    }

    /** Returns whether a port is free: a hint, since another process may take it at any time. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the body of an answer 200; any other answer fails, and the message quotes it. */
    public static String text(URI uri) throws IOException {
        HttpResponse<String> answer = ask(uri);
        if (answer.statusCode() != 200) {
            throw new IOException(uri + " answers " + answer.statusCode() + ": "
                    + answer.body().lines().findFirst().orElse(""));
        }
        return answer.body();
    }

    public static HttpResponse<String> ask(URI uri) throws IOException {
        try (HttpClient http = HttpClient.newBuilder()
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(Duration.ofSeconds(2))
                .build()) {
            return http.send(HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(5)).build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** Waits until {@code uri} responds with a good status; fails if the process ends. */
    public static void await(String name, Process process, URI uri, IntPredicate good,
            Duration most,
            Children children) throws IOException {
        long deadline = System.nanoTime() + most.toNanos();
        while (!good.test(status(uri))) {
            if (!process.isAlive()) {
                throw new IOException("the " + name + " ended with status " + process.exitValue()
                        + ": " + children.lastWords(name));
            }
            if (System.nanoTime() > deadline || Thread.currentThread().isInterrupted()) {
                throw new IOException("the " + name + " is not ready after " + most.toSeconds()
                        + " s: " + children.lastWords(name));
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
    }

    private static int status(URI uri) {
        try {
            return ask(uri).statusCode();
        } catch (IOException e) {
            return 0;
        }
    }
}
