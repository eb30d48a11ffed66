package io.railhead.benchmarks.channel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Locale;

/** A kept connection with the least work of a client. One thread. */
final class HttpConnection implements AutoCloseable {
    private static final byte[] HEAD_END = "\r\n\r\n".getBytes(ISO_8859_1);
    private static final String LENGTH = "content-length: ";

    private final SocketChannel channel;
    private final ByteBuffer received = ByteBuffer.allocateDirect(64 << 10);
    private int answerBytes;

    HttpConnection(URI uri) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress(uri.getHost(), uri.getPort()));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /** Sends a request and receives its whole response; returns head and body as text. */
    String exchange(byte[] request) throws IOException {
        send(ByteBuffer.wrap(request));
        int headEnd = headEnd();
        while (headEnd < 0) {
            receive();
            headEnd = headEnd();
        }
        String head = text(0, headEnd).toLowerCase(Locale.ROOT);
        int at = head.indexOf(LENGTH);
        int length = at < 0
                ? 0
                : Integer.parseInt(head.substring(at + LENGTH.length(), head.indexOf("\r\n", at)));
        while (received.position() < headEnd + length) {
            receive();
        }
        answerBytes = headEnd + length;
        return head + text(headEnd, length);
    }

    /** Sends the same request again; its response has the last one's length and is not read. */
    void repeat(ByteBuffer request) throws IOException {
        send(request.rewind());
        while (received.position() < answerBytes) {
            receive();
        }
    }

    private void send(ByteBuffer request) throws IOException {
        while (request.hasRemaining()) {
            channel.write(request);
        }
        received.clear();
    }

    private void receive() throws IOException {
        if (channel.read(received) < 0) {
            throw new EOFException("the gateway closed the connection");
        }
    }

    private String text(int from, int length) {
        byte[] bytes = new byte[length];
        received.get(from, bytes);
        return new String(bytes, ISO_8859_1);
    }

    /** Returns the start of the body; -1 if it has not come yet. */
    private int headEnd() {
        for (int at = 0; at + HEAD_END.length <= received.position(); at++) {
            if (text(at, HEAD_END.length).equals("\r\n\r\n")) {
                return at + HEAD_END.length;
            }
        }
        return -1;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
