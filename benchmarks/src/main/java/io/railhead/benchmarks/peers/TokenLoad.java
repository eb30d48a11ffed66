package io.railhead.benchmarks.peers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * GETs over HTTP that each deliver into a window, on every {@code step}th connection from
 * {@code first} on: one thread's share.
 */
record TokenLoad(Order order, GatewaySession session, ClientWindows windows, int first, int step)
        implements
            Load {
    private static final long LOOK_MILLIS = 20;

    @Override
    public void run(BooleanSupplier stopped, Meter meter) throws IOException {
        List<Connection> connections = new ArrayList<>();
        try (Selector selector = Selector.open()) {
            for (int i = first; i < order.connections(); i += step) {
                connections.add(new Connection(i, selector));
            }
            while (!stopped.getAsBoolean()) {
                selector.select(key -> take((Connection) key.attachment(), meter), LOOK_MILLIS);
            }
            for (Connection connection : connections) {
                if (connection.answered) {
                    windows.requireDelivered(connection.window);
                }
            }
        } catch (UncheckedIOException e) {
            throw new IOException(e.getMessage(), e);
        } finally {
            for (Connection connection : connections) {
                connection.http.close();
            }
        }
    }

    private void take(Connection connection, Meter meter) {
        try {
            connection.take(meter);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class Connection {
        private final GatewayConnection http = new GatewayConnection(order.host());
        private final int window;
        private final TokenRequest request;
        private boolean answered;
        private long beganNanos;

        Connection(int window, Selector selector) throws IOException {
            this.window = window;
            request = new TokenRequest(order.signer(), order.path(),
                    Map.of("x-amz-rdma-token", session.token(window)));
            http.channel().configureBlocking(false);
            http.channel().register(selector, SelectionKey.OP_READ, this);
            begin();
        }

        private void begin() throws IOException {
            beganNanos = System.nanoTime();
            http.send(request.next());
        }

        void take(Meter meter) throws IOException {
            @Nullable
            String head = http.pollHead();
            if (head != null) {
                GatewayConnection.requireMoved(head, order.bytes());
                meter.done(System.nanoTime() - beganNanos, order.bytes());
                answered = true;
                begin();
            }
        }
    }
}
