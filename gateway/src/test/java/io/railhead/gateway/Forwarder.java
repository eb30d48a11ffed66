package io.railhead.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A port that is known before what answers there is: each connection is passed on, byte for byte,
 * once the targets are told, to one after another of those that take it.
 */
public final class Forwarder implements AutoCloseable {
    private final CompletableFuture<List<URI>> targets = new CompletableFuture<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final ServerSocket listener;

    public Forwarder() {
        try {
            listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    public void passOnTo(URI... endpoints) {
        targets.complete(List.of(endpoints));
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
            Socket to = connect();
            open.add(to);
            Thread.ofVirtual().start(() -> pass(to, from));
            pass(from, to);
        } catch (IOException e) {
            close(from);
        }
    }

    private Socket connect() throws IOException {
        List<URI> all = targets.join();
        int first = connections.getAndIncrement();
        IOException refused = new IOException("nobody to pass it on to");
        for (int i = 0; i < all.size(); i++) {
            URI endpoint = all.get(Math.floorMod(first + i, all.size()));
            try {
                return new Socket(endpoint.getHost(), endpoint.getPort());
            } catch (IOException e) {
                refused = e;
            }
        }
        throw refused;
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
