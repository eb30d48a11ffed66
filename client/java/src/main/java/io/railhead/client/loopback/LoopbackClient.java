package io.railhead.client.loopback;

import io.railhead.client.channel.ClientChannel;
import io.railhead.client.channel.SessionCalls;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Attach;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Deregister;
import io.railhead.protocol.message.Message.Deregistered;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.Message.Register;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Message.SendDescriptor;
import io.railhead.protocol.message.Message.Welcome;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.RefusedException;
import io.railhead.protocol.message.SessionKey;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A process's end of a loopback session: proves it, registers memory, and has a {@link #channel}
 * for requests. Any thread; calls block and take turns.
 *
 * <p> The gateway may touch registered memory until {@link #deregister} or {@link #close} has
 * returned, or the connection's end was reported ({@link #onClosed}). A call that times out leaves
 * the connection in an unknown state: it is closed.
 */
public final class LoopbackClient implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final LoopbackSocket socket;
    private final ClientChannel channel;
    private final SessionCalls calls;
    private final long timeoutNanos;
    private final int sessionNumber;

    private LoopbackClient(LoopbackSocket socket, Welcome welcome, long timeoutNanos) {
        this.socket = socket;
        this.timeoutNanos = timeoutNanos;
        this.sessionNumber = welcome.session();
        this.channel = new ClientChannel(socket, welcome.limits(), "loopback-peer").start();
        this.calls = new SessionCalls(channel, timeoutNanos);
    }

    /**
     * Connects and proves the key; checks that the gateway has the key too. Throws
     * {@link RefusedException} with the gateway's reason.
     *
     * @param timeout the timeout of each call
     */
    public static LoopbackClient connect(Path socket, String sessionId, byte[] sessionKey,
            Duration timeout) throws IOException {
        LoopbackSocket connected = LoopbackSocket.connect(socket);
        try {
            Welcome welcome = new Handshake(connected, System.nanoTime() + timeout.toNanos())
                    .prove(sessionId, sessionKey);
            return new LoopbackClient(connected, welcome, timeout.toNanos());
        } catch (IOException | RuntimeException | Error e) {
            connected.close();
            throw e;
        }
    }

    /** The exchange from HELLO to WELCOME, on a socket without other users yet. */
    private static final class Handshake {
        private final LoopbackSocket socket;
        private final long deadline;
        private final Deque<Message> heard = new ArrayDeque<>();

        Handshake(LoopbackSocket socket, long deadline) {
            this.socket = socket;
            this.deadline = deadline;
        }

        Welcome prove(String sessionId, byte[] sessionKey) throws IOException {
            Bytes32 mine = Bytes32.random(RANDOM);
            Bytes32 theirs = ask(new Hello(sessionId, mine), Challenge.class).nonce();
            Welcome answer = ask(
                    new Proof(SessionKey.clientProof(sessionKey, sessionId, mine, theirs)),
                    Welcome.class);
            if (!SessionKey.serverProof(sessionKey, sessionId, mine, theirs)
                    .equals(answer.proof())) {
                throw new IOException(
                        "the other side of the socket does not hold the session's key");
            }
            return answer;
        }

        private <M extends Message> M ask(Message message, Class<M> type) throws IOException {
            socket.outgoing().put(MessageCodec.encode(message));
            IOException unsent = null;
            try {
                socket.send();
            } catch (IOException e) {
                // A busy gateway has sent its refusal and closed.
                unsent = e;
            }
            while (heard.isEmpty()) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new IOException("the gateway did not answer in time");
                }
                if (socket.receive((kind, bytes, payload, end) -> heard
                        .add(MessageCodec.decode(kind, bytes, payload))) < 0) {
                    throw new IOException("the gateway closed the connection", unsent);
                }
                if (heard.isEmpty()) {
                    socket.awaitMessage(left);
                }
            }
            return heard.remove().require(type);
        }
    }

    /** Returns the channel for requests. Its end is this session's end. */
    public ClientChannel channel() {
        return channel;
    }

    /** Returns the session's number, for tokens. */
    public int sessionNumber() {
        return sessionNumber;
    }

    /** Returns how many buffers may be registered at a time. */
    public int maxBuffers() {
        return channel.limits().maxBuffers();
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    /**
     * Registers the whole memory of a file, whose descriptor is not needed afterwards.
     *
     * @param baseAddress the address of the first byte in tokens: that of this process's own
     *            mapping
     * @return the key for tokens and requests
     */
    public int register(MemoryFile file, long baseAddress) throws IOException {
        return register(file.descriptor(), baseAddress, file.bytes());
    }

    public int register(int descriptor, long baseAddress, long length) throws IOException {
        return calls.inTurn(() -> {
            Message answer = channel.askAndHold(new Register(baseAddress, length, 0),
                    timeoutNanos);
            if (!(answer instanceof SendDescriptor)) {
                channel.resume();
            }
            var _ = answer.require(SendDescriptor.class);
            return channel.resume(() -> socket.send(descriptor), timeoutNanos)
                    .require(Registered.class)
                    .key();
        });
    }

    /**
     * Registers private memory of this process, if the gateway is configured to attach to it.
     *
     * @param proof 32 bytes that the proof overwrites
     */
    public int attach(MemorySegment memory, MemorySegment proof) throws IOException {
        return attach(new Attach(memory.address(), memory.byteSize(), proof.address()), proof);
    }

    public int attach(Attach attach, MemorySegment proof) throws IOException {
        return calls.inTurn(() -> {
            Bytes32 nonce = calls.ask(attach, Challenge.class).nonce();
            MemorySegment.copy(MemorySegment.ofArray(nonce.bytes()), 0, proof, 0, Bytes32.SIZE);
            return calls.ask(new Proof(nonce), Registered.class).key();
        });
    }

    /** Deregisters memory; returns when the gateway no longer touches it. */
    public void deregister(int key) throws IOException {
        calls.ask(new Deregister(key), Deregistered.class);
    }

    /** Makes a round trip. */
    public void ping() throws IOException {
        calls.ping();
    }

    /** Runs a listener at the connection's end, on the client's own thread: it must not block. */
    public void onClosed(Runnable listener) {
        channel.onClosed(listener);
    }

    /**
     * Sends BYE and waits until the gateway has released all memory, which the channel then shows.
     * Idempotent.
     */
    @Override
    public void close() {
        calls.leave();
    }

    /** Sends a descriptor against the protocol, for tests: the gateway ends the session. */
    public void sendUnasked(int descriptor) throws IOException {
        socket.send(descriptor);
    }

    /** Closes without a message, as a killed process does. */
    public void drop() {
        channel.close();
    }
}
