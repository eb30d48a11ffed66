package io.railhead.client.loopback;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.client.channel.ClientTransport;
import io.railhead.os.OsException;
import io.railhead.os.StreamSocket;
import io.railhead.protocol.message.MessageHeader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** The messages on a UNIX socket. The sender and the receiver have buffers of their own. */
final class LoopbackSocket implements ClientTransport {
    private static final int ROOM = 16 * MessageHeader.MAX_MESSAGE_BYTES;

    private final StreamSocket ownedSocket;
    private final ByteBuffer outgoing = ByteBuffer
            .allocateDirect(MessageHeader.MAX_MESSAGE_BYTES)
            .order(LITTLE_ENDIAN);
    private final MemorySegment outgoingBytes = MemorySegment.ofBuffer(outgoing);
    private final ByteBuffer incoming = ByteBuffer.allocateDirect(ROOM).order(LITTLE_ENDIAN);
    private final MemorySegment incomingBytes = MemorySegment.ofBuffer(incoming);

    private LoopbackSocket(StreamSocket ownedSocket) {
        this.ownedSocket = ownedSocket;
    }

    static LoopbackSocket connect(Path path) throws IOException {
        try {
            return new LoopbackSocket(StreamSocket.connect(path));
        } catch (OsException e) {
            throw new IOException("cannot connect to " + path, e);
        }
    }

    @Override
    public ByteBuffer outgoing() {
        return outgoing.clear();
    }

    @Override
    public void send() throws IOException {
        try {
            ownedSocket.send(outgoingBytes, outgoing.position());
        } catch (OsException e) {
            throw new IOException(e);
        }
    }

    /** Sends one byte with the descriptor, which stays the caller's. Sender only. */
    void send(int descriptor) throws IOException {
        try {
            ownedSocket.sendDescriptor(descriptor);
        } catch (OsException e) {
            throw new IOException(e);
        }
    }

    @Override
    public int receive(Sink sink) throws IOException {
        long bytes;
        try {
            bytes = ownedSocket.receive(incomingBytes, incoming.position());
        } catch (OsException e) {
            throw new IOException(e);
        }
        if (bytes <= 0) {
            return (int) bytes;
        }
        int limit = incoming.position() + (int) bytes;
        int messages = 0;
        int at = 0;
        while (limit - at >= MessageHeader.BYTES) {
            int type = MessageHeader.requireType(incoming, at);
            int payload = at + MessageHeader.BYTES;
            int end = payload + MessageHeader.payloadBytes(incoming, at);
            if (end > limit) {
                break;
            }
            sink.message(type, incoming, payload, end);
            messages++;
            at = end;
        }
        incoming.limit(limit).position(at).compact();
        return messages;
    }

    @Override
    public void awaitMessage(long nanos) {
        ownedSocket.awaitBytes(nanos);
    }

    @Override
    public boolean awaitEnd(long nanos) {
        return ownedSocket.awaitEnd(nanos);
    }

    @Override
    public void wakeUp() {
        ownedSocket.wakeUp();
    }

    @Override
    public void shutDown() {
        ownedSocket.shutDown();
    }

    @Override
    public void close() {
        ownedSocket.close();
    }
}
