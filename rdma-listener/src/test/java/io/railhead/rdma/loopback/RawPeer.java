package io.railhead.rdma.loopback;

import io.railhead.os.TestSocket;
import io.railhead.rdma.session.Message;
import io.railhead.rdma.session.Message.Challenge;
import io.railhead.rdma.session.Message.Hello;
import io.railhead.rdma.session.Message.Proof;
import io.railhead.rdma.session.Message.Welcome;
import io.railhead.rdma.session.MessageCodec;
import io.railhead.rdma.session.Octets;
import io.railhead.rdma.session.Session;
import io.railhead.rdma.session.SessionKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A peer that says whatever a test wants said. */
final class RawPeer implements AutoCloseable {
    private final TestSocket socket;
    private final ByteBuffer incoming = ByteBuffer.allocate(4096);

    RawPeer(Path socket) throws IOException {
        this.socket = TestSocket.connect(socket);
    }

    void send(Message... messages) throws IOException {
        for (Message message : messages) {
            send(MessageCodec.encode(message));
        }
    }

    void send(ByteBuffer bytes) throws IOException {
        socket.send(bytes);
    }

    /** One byte, and with it a descriptor as many times over as said. */
    void sendDescriptor(int descriptor, int times) throws IOException {
        send(ByteBuffer.allocate(1), descriptor, times);
    }

    void send(ByteBuffer bytes, int descriptor, int times) throws IOException {
        int[] copies = new int[times];
        Arrays.fill(copies, descriptor);
        socket.send(bytes, copies);
    }

    /** The next message; null when the gateway has closed. */
    @Nullable
    Message receive() throws IOException {
        while (true) {
            incoming.flip();
            Message message = MessageCodec.decode(incoming);
            incoming.compact();
            if (message != null) {
                return message;
            }
            if (!tryRead()) {
                return null;
            }
        }
    }

    private boolean tryRead() {
        try {
            return socket.read(incoming) > 0;
        } catch (IOException _) {
            return false; // Reset: the gateway closed with bytes of ours unread.
        }
    }

    /** Waits until the gateway has closed, whatever it says before. */
    void awaitEnd() throws IOException {
        while (receive() != null) {
            // What it said does not matter.
        }
    }

    void prove(Session session, byte[] key) throws IOException {
        Octets mine = Octets.random(new Random(1));
        send(new Hello(session.id(), mine));
        if (receive() instanceof Challenge(Octets theirs)) {
            send(new Proof(SessionKey.clientProof(key, session.id(), mine, theirs)));
            if (receive() instanceof Welcome) {
                return;
            }
        }
        throw new IOException("not welcome");
    }

    @Override
    public void close() {
        socket.close();
    }
}
