package io.railhead.benchmarks.peers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A kept connection with the least work of a client. One thread. */
final class GatewayConnection implements AutoCloseable {
    private static final int BUFFER_BYTES = 16 << 10;
    private static final String END = "\r\n\r\n";
    private static final String LENGTH = "\r\ncontent-length: ";

    private final SocketChannel channel;
    private final ByteBuffer received = ByteBuffer.allocate(BUFFER_BYTES);

    GatewayConnection(String host) throws IOException {
        String[] parts = host.split(":", -1);
        channel = SocketChannel.open(
                new InetSocketAddress(parts[0], Integer.parseInt(parts[1])));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    SocketChannel channel() {
        return channel;
    }

    void send(byte[] head) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(head);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Waits for the next response's head. */
    String receiveHead() throws IOException {
        String head = pollHead();
        while (head == null) {
            head = pollHead();
        }
        return head;
    }

    /** Reads once; returns null until the whole head has come. */
    @Nullable
    String pollHead() throws IOException {
        if (channel.read(received) < 0) {
            throw new EOFException("the gateway closed a connection");
        }
        String text = new String(received.array(), 0, received.position(), ISO_8859_1);
        int end = text.indexOf(END);
        if (end < 0) {
            if (!received.hasRemaining()) {
                throw new IOException("a response's head is too long: " + text);
            }
            return null;
        }
        received.flip().position(end + END.length());
        received.compact();
        return text.substring(0, end + END.length());
    }

    byte[] receiveBody(int bytes) throws IOException {
        while (received.position() < bytes) {
            if (channel.read(received) < 0) {
                throw new EOFException("the gateway closed a connection");
            }
        }
        byte[] body = new byte[bytes];
        received.flip().get(body);
        received.compact();
        return body;
    }

    static int contentLength(String head) throws IOException {
        int at = head.toLowerCase(Locale.ROOT).indexOf(LENGTH);
        if (at < 0) {
            throw new IOException("no Content-Length: " + head);
        }
        int from = at + LENGTH.length();
        return Integer.parseInt(head.substring(from, head.indexOf('\r', from)));
    }

    /** Throws unless a head reports that all bytes moved one-sided, and no byte follows it. */
    static void requireMoved(String head, long bytes) throws IOException {
        if (!head.startsWith("HTTP/1.1 200 ") || !head.contains("\r\nx-amz-rdma-reply: 200\r\n")
                || !head.contains("\r\nx-amz-rdma-bytes-transferred: " + bytes + "\r\n")
                || !head.contains(LENGTH + "0\r\n")) {
            throw new IOException("not moved one-sided: " + head.replaceAll("\\s+", " "));
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
