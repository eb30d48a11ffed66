package io.railhead.rdma.loopback;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.os.TestSocket;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerCodec;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestCodec;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.Message.Welcome;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.SessionKey;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A peer that says whatever a test wants said. */
final class RawPeer implements AutoCloseable {
    private final TestSocket socket;
    private final ByteBuffer incoming = ByteBuffer.allocate(1 << 16).order(LITTLE_ENDIAN);
    private final List<Answer> answers = new ArrayList<>();
    private final List<EndedMessage> ended = new ArrayList<>();

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

    void send(Request... requests) throws IOException {
        send(message(requests));
    }

    /** One message of all of them. */
    static ByteBuffer message(Request... requests) {
        ByteBuffer message = ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
                .order(LITTLE_ENDIAN)
                .position(MessageHeader.BYTES);
        for (Request request : requests) {
            if (!RequestCodec.tryEncode(request, message)) {
                throw new IllegalArgumentException("the requests do not fit into a message");
            }
        }
        MessageHeader.put(message, 0, MessageHeader.REQUESTS,
                message.position() - MessageHeader.BYTES);
        return message.flip();
    }

    /** The next message that is no answer; null when the gateway has closed. */
    @Nullable
    Message receive() throws IOException {
        while (true) {
            incoming.flip();
            Message message = next();
            incoming.compact();
            if (message != null) {
                return message;
            }
            if (!tryRead()) {
                return null;
            }
        }
    }

    private @Nullable Message next() throws IOException {
        while (incoming.remaining() >= MessageHeader.BYTES) {
            int at = incoming.position();
            int type = MessageHeader.requireType(incoming, at);
            int end = at + MessageHeader.BYTES + MessageHeader.payloadBytes(incoming, at);
            if (type != MessageHeader.ANSWERS && type != MessageHeader.ENDED) {
                return MessageCodec.decode(incoming);
            }
            if (end > incoming.limit()) {
                return null;
            }
            ByteBuffer payload = incoming.duplicate()
                    .order(LITTLE_ENDIAN)
                    .limit(end)
                    .position(at + MessageHeader.BYTES);
            if (type == MessageHeader.ENDED) {
                ended.add(EndedMessage.decode(payload));
            }
            while (type == MessageHeader.ANSWERS && payload.hasRemaining()) {
                answers.add(AnswerCodec.decode(payload));
            }
            incoming.position(end);
        }
        return null;
    }

    /** Waits until there are so many answers; takes them. */
    List<Answer> receiveAnswers(int count) throws IOException {
        while (answers.size() < count) {
            incoming.flip();
            Message message = next();
            incoming.compact();
            if (message != null || (answers.size() < count && !tryRead())) {
                throw new IOException(message + " instead of answers: " + answers);
            }
        }
        List<Answer> taken = List.copyOf(answers);
        answers.clear();
        return taken;
    }

    /** What was said of the session's end. */
    List<EndedMessage> ended() {
        return ended;
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

    void prove(ClientSession clientSession, byte[] key) throws IOException {
        Bytes32 mine = Bytes32.random(new Random(1));
        send(new Hello(clientSession.id(), mine));
        if (receive() instanceof Challenge(Bytes32 theirs)) {
            send(new Proof(SessionKey.clientProof(key, clientSession.id(), mine, theirs)));
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
