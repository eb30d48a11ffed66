package io.railhead.cli.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A thread of the client with its share of the connections: epoll, and one buffer that all bodies
 * are read into and dropped.
 */
final class HttpWorker implements Runnable, AutoCloseable {
    /**
     * Fits into a core's own cache, as the buffer of a client that uses its bytes at once would.
     */
    private static final int BUFFER_BYTES = 256 << 10;

    private final Selector selector = Selector.open();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ResponseHead head = new ResponseHead();
    private final Latencies latencies = new Latencies();
    private final Counter bytes = new Counter();
    private final List<LoadExchange> exchanges = new ArrayList<>();
    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;

    HttpWorker() throws IOException {}

    /** Before it runs. */
    void own(LoadExchange ownedExchange) throws IOException {
        exchanges.add(ownedExchange);
        ownedExchange.register(selector);
    }

    @Override
    public void run() {
        try {
            for (LoadExchange exchange : exchanges) {
                exchange.begin();
            }
            while (!stopped) {
                selector.select(key -> take((LoadExchange) key.attachment()));
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    private void take(LoadExchange exchange) {
        try {
            exchange.take(buffer);
        } catch (IOException e) {
            fail(e);
        }
    }

    private void fail(Throwable e) {
        if (failure == null) {
            failure = e;
        }
        stopped = true;
    }

    ResponseHead head() {
        return head;
    }

    void received(long count) {
        bytes.add(count);
    }

    void done(long nanos) {
        latencies.add(nanos);
    }

    Counter bytes() {
        return bytes;
    }

    Latencies latencies() {
        return latencies;
    }

    void requireRunning() throws IOException {
        Throwable e = failure;
        if (e != null) {
            throw new IOException(e.getMessage(), e);
        }
    }

    void stop() {
        stopped = true;
        selector.wakeup();
    }

    @Override
    public void close() throws IOException {
        for (LoadExchange exchange : exchanges) {
            exchange.close();
        }
        selector.close();
    }
}
