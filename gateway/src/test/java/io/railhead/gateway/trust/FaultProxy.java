package io.railhead.gateway.trust;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An HTTP/1.1 proxy on a port of its own in front of a store, in this process or behind a socket,
 * that does to answers what its plan says. A virtual thread per connection.
 */
public final class FaultProxy implements AutoCloseable {
    private static final Toxic CLEAN = new Toxic.Latency(Duration.ZERO);

    /** The store behind it. */
    @FunctionalInterface
    public interface Upstream {
        Message ask(Message request) throws IOException;

        /** Hears of an answer that changes on its way, before it does. */
        default void changed(Message request, Message sent, Message arrives) {}
    }

    private final ServerSocket server;
    private final Upstream upstream;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final AtomicLong injected = new AtomicLong();
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile FaultPlan plan = FaultPlan.NONE;

    public FaultProxy(Upstream upstream) {
        this.upstream = upstream;
        try {
            server = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    /** In front of a store at this address. */
    public static FaultProxy before(URI store) {
        return new FaultProxy(request -> {
            try (Socket socket = new Socket(store.getHost(), store.getPort())) {
                OutputStream out = socket.getOutputStream();
                // The body follows at once, so nobody need say that it may.
                Message sent = request.without("expect").with("Connection", "close");
                out.write(sent.headBytes());
                out.write(sent.body());
                out.flush();
                return Message
                        .readAnswer(new BufferedInputStream(socket.getInputStream()),
                                request.method())
                        .without("connection")
                        .without("date");
            }
        });
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort());
    }

    /** For the requests that come from now on. */
    public void plan(FaultPlan newPlan) {
        plan = newPlan;
    }

    /** How many requests had something happen to them. */
    public long injected() {
        return injected.get();
    }

    /** Returns whether the store owes nobody anything: no request that is late will change it. */
    public boolean isIdle() {
        return underWay.get() == 0;
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = server.accept();
                connections.add(connection);
                Thread.ofVirtual().start(() -> serve(connection));
            }
        } catch (IOException e) {
            // It was closed.
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            connection.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(connection.getInputStream());
            OutputStream out = connection.getOutputStream();
            Wire wire = new Wire(connection, out);
            while (!connection.isClosed()) {
                Message request = Message.readRequest(in, out);
                if (request == null) {
                    return;
                }
                Toxic toxic = plan.next(request);
                if (toxic != null) {
                    injected.incrementAndGet();
                }
                underWay.incrementAndGet();
                try {
                    exchange(request, toxic == null ? CLEAN : toxic, wire);
                } finally {
                    underWay.decrementAndGet();
                }
            }
        } catch (IOException e) {
            // The gateway has gone, or a toxic has ended it.
        } finally {
            connections.remove(connection);
        }
    }

    private void exchange(Message request, Toxic toxic, Wire wire) throws IOException {
        Message answer = toxic.instead(request);
        if (answer == null) {
            Message sent = upstream.ask(toxic.asked(request));
            answer = toxic.altered(sent);
            upstream.changed(request, sent, answer);
        }
        boolean bodiless = request.method().equals("HEAD") || answer.status() == 204
                || answer.status() == 304;
        if (answer.header("content-length") == null || !bodiless) {
            answer = answer.with("Content-Length", Integer.toString(answer.body().length));
        }
        toxic.send(answer.headBytes(), bodiless ? new byte[0] : answer.body(), wire);
    }

    private record Wire(Socket socket, OutputStream out) implements Toxic.Wire {
        @Override
        public void write(byte[] bytes) throws IOException {
            out.write(bytes);
        }

        @Override
        public void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }

        @Override
        public void end() throws IOException {
            socket.close();
        }
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket connection : connections) {
                connection.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
