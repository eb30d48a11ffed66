package io.railhead.cli.bench;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;

/** A kept connection on which a thread sends a request and waits for its answer. */
final class ErrandConnection implements AutoCloseable {
    private static final int BUFFER_BYTES = 256 << 10;

    private final SocketChannel channel;
    private final Counter bytes;
    private final ResponseHead head = new ResponseHead();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES)
            .order(ByteOrder.nativeOrder());

    ErrandConnection(int port, Counter bytes) throws IOException {
        this.bytes = bytes;
        channel = SocketChannel.open(RawHttp.address(port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /**
     * @param from the object's offset at which the answer begins
     */
    void read(byte[] request, long from, long length) throws IOException {
        send(ByteBuffer.wrap(request));
        receiveHead();
        if (head.contentLength() != length) {
            throw new IOException("the body has " + head.contentLength() + " bytes, not " + length);
        }
        long at = from;
        while (true) {
            requirePlace(at);
            at += buffer.remaining();
            bytes.add(buffer.remaining());
            if (at >= from + length) {
                break;
            }
            receive(buffer.clear());
            buffer.flip();
        }
        if (at > from + length) {
            throw new IOException("more bytes than announced");
        }
    }

    private void requirePlace(long at) throws IOException {
        int skipped = (int) Math.floorMod(-at, (long) Long.BYTES);
        if (buffer.remaining() >= skipped + Long.BYTES && buffer.getLong(
                buffer.position() + skipped) != BenchObject.longAt(at + skipped)) {
            throw new IOException("wrong bytes at " + (at + skipped));
        }
    }

    /** Writes a body of that many of the object's bytes. */
    void write(byte[] request, long length) throws IOException {
        send(ByteBuffer.wrap(request));
        ByteBuffer block = ByteBuffer.allocateDirect(BenchObject.BLOCK_BYTES)
                .order(ByteOrder.nativeOrder());
        block.put(BenchObject.bytes(BenchObject.BLOCK_BYTES));
        for (long at = 0; at < length; at += BenchObject.BLOCK_BYTES) {
            block.clear()
                    .limit((int) Math.min(length - at, BenchObject.BLOCK_BYTES))
                    .putLong(0, BenchObject.longAt(at));
            send(block);
        }
        bytes.add(length);
        receiveHead();
        requireNoBody();
    }

    /** Names memory in which they are. */
    void offer(byte[] request, long length) throws IOException {
        send(ByteBuffer.wrap(request));
        receiveHead();
        requireNoBody();
        if (head.delivered() != length) {
            throw new IOException("not taken one-sided: " + head.delivered() + " bytes moved");
        }
        bytes.add(length);
    }

    private void requireNoBody() throws IOException {
        if (head.contentLength() != 0) {
            throw new IOException("an answer to a write has a body");
        }
    }

    private void send(ByteBuffer some) throws IOException {
        while (some.hasRemaining()) {
            channel.write(some);
        }
    }

    /** What has come of the body is then in the buffer. */
    private void receiveHead() throws IOException {
        receive(buffer.clear());
        while (head.read(buffer.flip()) < 0) {
            receive(buffer.compact());
        }
    }

    private void receive(ByteBuffer into) throws IOException {
        if (channel.read(into) < 0) {
            throw new EOFException("the server closed a connection");
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
