package io.railhead.benchmarks.misses;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A link to the store of a fixed rate and latency. All connections share the rate of each
 * direction, and an answer's first byte comes so much later. Blocking, two virtual threads for each
 * connection.
 *
 * <p>Toxiproxy has a rate for each connection alone, and took twice the processor time for a GiB:
 * benchmarks/README.md.
 */
final class ThrottledProxy implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;

    private final ServerSocketChannel listener;
    private final int storePort;
    private final long latencyNanos;
    private final TokenBucket upPace;
    private final TokenBucket downPace;
    private final LongAdder up = new LongAdder();
    private final LongAdder down = new LongAdder();
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();

    /**
     * The bytes that have passed since the start, heads included.
     *
     * @param up bytes to the store
     * @param down bytes from it
     */
    record Passed(long up, long down) {

        Passed since(Passed before) {
            return new Passed(up - before.up, down - before.down);
        }
    }

    /** Listens on a port of its own until it is closed. */
    ThrottledProxy(int storePort, long bitsPerSecond, double latencyMillis) throws IOException {
        this.storePort = storePort;
        latencyNanos = Math.round(latencyMillis * 1e6);
        upPace = new TokenBucket(bitsPerSecond, System.nanoTime());
        downPace = new TokenBucket(bitsPerSecond, System.nanoTime());
        listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        Thread.ofVirtual().name("link").start(this::accept);
    }

    int port() throws IOException {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    Passed passed() {
        return new Passed(up.sum(), down.sum());
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel client = listener.accept();
                Thread.ofVirtual().start(() -> connect(client));
            }
        } catch (IOException e) {
            close(listener);
        }
    }

    private void connect(SocketChannel client) {
        try (client;
                SocketChannel store = SocketChannel
                        .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), storePort))) {
            open.add(client);
            open.add(store);
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            store.setOption(StandardSocketOptions.TCP_NODELAY, true);
            AtomicBoolean asked = new AtomicBoolean();
            Thread answers = Thread.ofVirtual().start(() -> pass(store, client, () -> {
                if (asked.compareAndSet(true, false)) {
                    sleepUntil(System.nanoTime() + latencyNanos);
                }
            }, downPace, down));
            pass(client, store, () -> asked.set(true), upPace, up);
            answers.join();
        } catch (IOException _) {
            // Its client sees that the connection has ended.
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            open.removeIf(channel -> !channel.isOpen());
        }
    }

    /** Passes bytes until either side ends, which ends both. */
    private static void pass(SocketChannel from, SocketChannel to, Runnable onPiece,
            TokenBucket tokenBucket,
            LongAdder count) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        try {
            while (from.read(buffer.clear()) >= 0) {
                onPiece.run();
                sleepUntil(tokenBucket.take(buffer.flip().remaining(), System.nanoTime()));
                count.add(buffer.remaining());
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
            }
        } catch (IOException _) {
            // Ends as at the end of the input.
        } finally {
            close(from);
            close(to);
        }
    }

    private static void sleepUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static void close(Channel channel) {
        try {
            channel.close();
        } catch (IOException _) {
            // The connection is closed in any case.
        }
    }

    @Override
    public void close() {
        close(listener);
        open.forEach(ThrottledProxy::close);
    }
}
