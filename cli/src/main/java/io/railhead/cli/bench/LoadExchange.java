package io.railhead.cli.bench;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** A kept connection on which one request follows another's answer. One thread. */
final class LoadExchange implements AutoCloseable {
    private final SocketChannel channel;
    private final RepeatedRequest requests;
    private final long objectBytes;
    private final boolean isOneSided;
    private final HttpWorker worker;
    private ByteBuffer request;
    private byte[] carried = new byte[0];
    private long beganNanos;
    private long bodyLeft;
    private volatile boolean hasEnded;

    /**
     * @param isOneSided whether the body is to be empty and the bytes elsewhere
     */
    LoadExchange(InetSocketAddress server, RepeatedRequest requests, long objectBytes,
            boolean isOneSided, HttpWorker worker) throws IOException {
        this.requests = requests;
        this.objectBytes = objectBytes;
        this.isOneSided = isOneSided;
        this.worker = worker;
        request = ByteBuffer.allocate(0);
        channel = SocketChannel.open(server);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    SelectionKey register(Selector selector) throws IOException {
        return channel.register(selector, SelectionKey.OP_READ, this);
    }

    void begin() throws IOException {
        request = requests.next();
        beganNanos = System.nanoTime();
        while (request.hasRemaining()) {
            // A request is smaller than an empty socket's buffer.
            channel.write(request);
        }
    }

    /** Takes what has come. The buffer is everybody's: what must be kept is carried over. */
    void take(ByteBuffer buffer) throws IOException {
        int read;
        do {
            buffer.clear().put(carried);
            if (carried.length > 0) {
                carried = new byte[0];
            }
            read = channel.read(buffer);
            if (read < 0) {
                throw new EOFException("the server closed a connection");
            }
            boolean isFull = !buffer.hasRemaining();
            consume(buffer.flip());
            if (!isFull) {
                return;
            }
        } while (bodyLeft > 0);
    }

    private void consume(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (bodyLeft == 0) {
                if (worker.head().read(buffer) < 0) {
                    carried = new byte[buffer.remaining()];
                    buffer.get(carried);
                    return;
                }
                beginBody(worker.head());
            }
            int part = (int) Math.min(bodyLeft, buffer.remaining());
            buffer.position(buffer.position() + part);
            bodyLeft -= part;
            worker.received(part);
            if (bodyLeft == 0) {
                worker.done(System.nanoTime() - beganNanos);
                if (!hasEnded) {
                    hasEnded = true;
                }
                begin();
            }
        }
    }

    private void beginBody(ResponseHead head) throws IOException {
        if (isOneSided) {
            if (head.delivered() != objectBytes || head.contentLength() != 0) {
                throw new IOException("not delivered one-sided: " + head.delivered()
                        + " bytes moved, " + head.contentLength() + " in the body");
            }
            worker.received(objectBytes);
        } else if (head.contentLength() != objectBytes) {
            throw new IOException("the body has " + head.contentLength() + " bytes, the object "
                    + objectBytes);
        }
        bodyLeft = head.contentLength();
    }

    /** Whether one request at least has been answered whole. Any thread. */
    boolean hasEnded() {
        return hasEnded;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
