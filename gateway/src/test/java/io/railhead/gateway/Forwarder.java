package io.railhead.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A port that is known before what answers there is: each connection is passed on, byte for byte,
 * once the target is told.
 */
final class Forwarder implements AutoCloseable {
    private final CompletableFuture<URI> target = new CompletableFuture<>();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final ServerSocket listener;

    Forwarder() {
        try {
            listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    void passOnTo(URI endpoint) {
        target.complete(endpoint);
    }

    private void accept() {
        try {
            while (true) {
                Socket from = listener.accept();
                open.add(from);
                Thread.ofVirtual().start(() -> connect(from));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void connect(Socket from) {
        try {
            URI endpoint = target.join();
            Socket to = new Socket(endpoint.getHost(), endpoint.getPort());
            open.add(to);
            Thread.ofVirtual().start(() -> pass(to, from));
            pass(from, to);
        } catch (IOException e) {
            close(from);
        }
    }

    private static void pass(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // The other side is told by the end of its connection.
        }
        close(from);
        close(to);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        open.forEach(Forwarder::close);
    }
}
