package io.railhead.client.verbs;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvMr;
import io.railhead.client.channel.ClientChannel;
import io.railhead.client.channel.SessionCalls;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Deregister;
import io.railhead.protocol.message.Message.Deregistered;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.Message.Register;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Message.Welcome;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.RefusedException;
import io.railhead.protocol.message.SessionKey;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A process's end of a verbs session: proves it, registers memory, and has a {@link #channel} for
 * requests. Any thread; calls block and take turns.
 *
 * <p> The gateway may touch registered memory until {@link #deregister} or {@link #close} has
 * returned, or the connection's end was reported ({@link #onClosed}). A call that times out leaves
 * the connection in an unknown state: it is closed.
 */
public final class VerbsClient implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final VerbsTransport transport;
    private final ClientChannel channel;
    private final SessionCalls calls;
    private final Map<Integer, IbvMr> registrations = new HashMap<>();
    private final int sessionNumber;

    private VerbsClient(VerbsTransport transport, Welcome welcome, long timeoutNanos) {
        this.transport = transport;
        this.sessionNumber = welcome.session();
        this.channel = new ClientChannel(transport, welcome.limits(), "verbs-peer").start();
        this.calls = new SessionCalls(channel, timeoutNanos);
    }

    /**
     * Connects and proves the key; checks that the gateway has the key too.
     *
     * @throws RefusedException with the gateway's reason
     * @throws SessionEndedException if the session is over, with the reason
     */
    public static VerbsClient connect(VerbsClientConfig config, InetSocketAddress gateway,
            String sessionId, byte[] sessionKey) throws IOException {
        Bytes32 nonce = Bytes32.random(RANDOM);
        VerbsTransport transport = connect(config, gateway, new Hello(sessionId, nonce));
        try {
            Welcome welcome = prove(transport, sessionId, sessionKey, nonce,
                    System.nanoTime() + config.timeout().toNanos());
            if (welcome.limits().maxRequests() > config.maxRequests()) {
                throw new IOException("the gateway grants more requests, "
                        + welcome.limits().maxRequests() + ", than there are receives for");
            }
            return new VerbsClient(transport, welcome, config.timeout().toNanos());
        } catch (IOException | RuntimeException | Error e) {
            transport.shutDown();
            transport.close();
            throw e;
        }
    }

    public static VerbsTransport connect(VerbsClientConfig config, InetSocketAddress gateway,
            Hello hello)
            throws IOException {
        ClientConnection link = new ClientConnection(config, gateway, MessageCodec.encode(hello));
        try {
            return new VerbsTransport(link);
        } catch (IOException | RuntimeException | Error e) {
            link.close();
            throw e;
        }
    }

    private static Welcome prove(VerbsTransport transport, String sessionId, byte[] sessionKey,
            Bytes32 mine, long deadline) throws IOException {
        if (!(MessageCodec.decode(transport.link().accepted()) instanceof Challenge(var theirs))) {
            throw new MessageException("the gateway did not accept with CHALLENGE");
        }
        transport.outgoing()
                .put(MessageCodec.encode(new Proof(
                        SessionKey.clientProof(sessionKey, sessionId, mine, theirs))));
        transport.send();
        Welcome answer = next(transport, deadline).require(Welcome.class);
        if (!SessionKey.serverProof(sessionKey, sessionId, mine, theirs).equals(answer.proof())) {
            throw new IOException("the other side does not hold the session's key");
        }
        return answer;
    }

    /** The gateway's first message. */
    static final class First {
        @Nullable
        Message message;
        @Nullable
        EndedMessage ended;

        void take(int type, ByteBuffer bytes, int payload, int end) throws MessageException {
            if (type == MessageHeader.ENDED) {
                ended = EndedMessage.decode(bytes.duplicate().limit(end).position(payload));
            } else {
                message = MessageCodec.decode(type, bytes, payload);
            }
        }
    }

    public static Message next(VerbsTransport transport, long deadline) throws IOException {
        First first = new First();
        while (first.message == null) {
            int messages = transport.receive(first::take);
            if (first.ended != null) {
                throw new SessionEndedException(first.ended);
            }
            long left = deadline - System.nanoTime();
            if (messages < 0) {
                throw new IOException("the gateway closed the connection");
            }
            if (left <= 0) {
                throw new IOException("the gateway did not answer in time");
            }
            if (messages == 0) {
                transport.awaitMessage(left);
            }
        }
        return first.message;
    }

    /** Returns the channel for requests. Its end is this session's end. */
    public ClientChannel channel() {
        return channel;
    }

    /** Returns the session's number, for tokens. */
    public int sessionNumber() {
        return sessionNumber;
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    /**
     * Registers memory that the gateway may write and read.
     *
     * @return the key for requests and tokens
     */
    public int register(MemorySegment memory) throws IOException {
        return calls.inTurn(() -> {
            IbvMr registration = transport.link().register(memory);
            try {
                int key = register(memory.address(), memory.byteSize(), registration.getRkey());
                registrations.put(key, registration);
                return key;
            } catch (RefusedException e) {
                // A refusal shows that the gateway does not use the rkey; another failure does not
                // show that.
                transport.link().deregister(registration);
                throw e;
            }
        });
    }

    /** Registers memory with the gateway as declared, without checks, for tests. */
    public int register(long address, long length, int remoteKey) throws IOException {
        return calls.ask(new Register(address, length, remoteKey), Registered.class).key();
    }

    /** Deregisters memory; returns when the gateway no longer touches it. */
    public void deregister(int key) throws IOException {
        var _ = calls.inTurn(() -> {
            var _ = calls.ask(new Deregister(key), Deregistered.class);
            IbvMr registration = registrations.remove(key);
            if (registration != null) {
                transport.link().deregister(registration);
            }
            return key;
        });
    }

    public VerbsTransport transport() {
        return transport;
    }

    /** Returns how many buffers the adapter may touch now. */
    public int registrations() {
        return transport.link().registrations();
    }

    /** Returns the adapter's own key of a registered buffer. */
    public int remoteKey(int key) {
        return requireNonNull(registrations.get(key)).getRkey();
    }

    /** Revokes the adapter's right to the memory without telling the gateway, for tests. */
    public void deregisterSilently(int key) throws IOException {
        IbvMr registration = registrations.remove(key);
        if (registration != null) {
            transport.link().deregister(registration);
        }
    }

    /** Makes a round trip. */
    public void ping() throws IOException {
        calls.ping();
    }

    /** Runs a listener at the connection's end, on the client's own thread: it must not block. */
    public void onClosed(Runnable listener) {
        channel.onClosed(listener);
    }

    /** Sends BYE and waits until the gateway has released all memory. Idempotent. */
    @Override
    public void close() {
        calls.leave();
    }

    /** Closes without a message, as a killed process does. */
    public void drop() {
        channel.close();
    }
}
