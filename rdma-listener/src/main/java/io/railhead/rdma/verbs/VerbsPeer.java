package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvMr;
import io.railhead.rdma.channel.Ended;
import io.railhead.rdma.loopback.RefusedException;
import io.railhead.rdma.session.Message;
import io.railhead.rdma.session.Message.Bye;
import io.railhead.rdma.session.Message.Challenge;
import io.railhead.rdma.session.Message.Deregister;
import io.railhead.rdma.session.Message.Deregistered;
import io.railhead.rdma.session.Message.Hello;
import io.railhead.rdma.session.Message.Ping;
import io.railhead.rdma.session.Message.Pong;
import io.railhead.rdma.session.Message.Proof;
import io.railhead.rdma.session.Message.Refused;
import io.railhead.rdma.session.Message.Register;
import io.railhead.rdma.session.Message.Registered;
import io.railhead.rdma.session.Message.Welcome;
import io.railhead.rdma.session.MessageCodec;
import io.railhead.rdma.session.MessageException;
import io.railhead.rdma.session.Octets;
import io.railhead.rdma.session.SessionKey;
import io.railhead.rdma.session.SessionLimits;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A process's end of a verbs session: proves it, registers memory. Any thread; each call blocks, and
 * they take turns.
 *
 * <p> Registered memory may be touched by the gateway until {@link #deregister} or {@link #close}
 * has returned, or the end was heard ({@link #onClosed}). A call that fails by time leaves the
 * connection in a state nobody knows: it is to be closed.
 */
public final class VerbsPeer implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int ACCESS = IbvMr.IBV_ACCESS_LOCAL_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;

    private final PeerMessages messages = new PeerMessages();
    private final ReentrantLock turn = new ReentrantLock();
    private final Map<Integer, IbvMr> registrations = new HashMap<>();
    private final long timeoutNanos;
    private final PeerConnection connection;
    private final Welcome welcome;
    private boolean taken;

    private VerbsPeer(VerbsPeerConfig config, InetSocketAddress gateway, String sessionId,
            byte[] sessionKey) throws IOException {
        timeoutNanos = config.timeout().toNanos();
        Octets mine = Octets.random(RANDOM);
        connection = PeerConnection.open(config, gateway,
                MessageCodec.encode(new Hello(sessionId, mine)), messages);
        try {
            welcome = prove(sessionId, sessionKey, mine);
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Connects and proves the key; checks that the gateway holds it too.
     *
     * @throws RefusedException with the gateway's reason
     * @throws SessionEndedException where the session is over, with why
     */
    public static VerbsPeer connect(VerbsPeerConfig config, InetSocketAddress gateway,
            String sessionId, byte[] sessionKey) throws IOException {
        return new VerbsPeer(config, gateway, sessionId, sessionKey);
    }

    private Welcome prove(String sessionId, byte[] sessionKey, Octets mine) throws IOException {
        if (!(MessageCodec.decode(connection.accepted()) instanceof Challenge(var theirs))) {
            throw new MessageException("the gateway did not accept with CHALLENGE");
        }
        Welcome answer;
        try {
            answer = ask(new Proof(SessionKey.clientProof(sessionKey, sessionId, mine, theirs)),
                    Welcome.class);
        } catch (IOException e) {
            Ended ended = messages.ended();
            throw ended == null ? e : new SessionEndedException(ended);
        }
        if (!SessionKey.serverProof(sessionKey, sessionId, mine, theirs).equals(answer.proof())) {
            throw new IOException("the other side does not hold the session's key");
        }
        return answer;
    }

    /** The session's number, for tokens. */
    public int sessionNumber() {
        return welcome.session();
    }

    public SessionLimits limits() {
        return welcome.limits();
    }

    public boolean isOpen() {
        return !messages.closed().isDone();
    }

    /** What the gateway said at the end; null if it has not. */
    public @Nullable Ended ended() {
        return messages.ended();
    }

    /**
     * Registers memory that the gateway may write and read.
     *
     * @return the key for requests and tokens
     */
    public int register(MemorySegment memory) throws IOException {
        turn.lock();
        try {
            IbvMr registration = connection.adapter().register(memory, ACCESS);
            try {
                int key = ask(new Register(memory.address(), memory.byteSize(),
                        registration.getRkey()), Registered.class).key();
                registrations.put(key, registration);
                return key;
            } catch (IOException e) {
                // It may have been taken in: it goes when the connection does.
                registrations.put(-registrations.size() - 1, registration);
                throw e;
            }
        } finally {
            turn.unlock();
        }
    }

    /** Returns when the gateway no longer touches the memory. */
    public void deregister(int key) throws IOException {
        turn.lock();
        try {
            ask(new Deregister(key), Deregistered.class);
            IbvMr registration = registrations.remove(key);
            if (registration != null) {
                connection.adapter().verbs().deregister(registration);
            }
        } finally {
            turn.unlock();
        }
    }

    /** A round trip. */
    public void ping() throws IOException {
        long value = RANDOM.nextLong();
        if (ask(new Ping(value), Pong.class).value() != value) {
            throw new MessageException("a PONG to another PING");
        }
    }

    /** Runs when the connection has ended, on the peer's own thread: it must not block. */
    public void onClosed(Runnable listener) {
        var _ = messages.closed().thenRun(listener);
    }

    /** Says BYE and waits until the gateway has let go of all memory. Idempotent. */
    @Override
    public void close() {
        turn.lock();
        try {
            if (isOpen()) {
                connection.send(MessageCodec.encode(new Bye()));
                messages.closed().get(timeoutNanos, TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException _) {
            // The gateway is stuck: it hears of the end by the connection.
        } finally {
            takeApart();
            turn.unlock();
        }
    }

    /** Goes away without a word, as a killed process does. */
    void drop() {
        turn.lock();
        try {
            takeApart();
        } finally {
            turn.unlock();
        }
    }

    private void takeApart() {
        if (!taken) {
            taken = true;
            connection.close(this::deregisterAll);
        }
    }

    private void deregisterAll() {
        @Nullable
        IOException failure = null;
        for (IbvMr registration : registrations.values()) {
            failure = Adapter.tryRun(failure,
                    () -> connection.adapter().verbs().deregister(registration));
        }
        registrations.clear();
        if (failure != null) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Sends a message as it is. */
    void send(ByteBuffer message) {
        connection.send(message);
    }

    void onAnswers(Consumer<ByteBuffer> listener) {
        messages.onAnswers(listener);
    }

    private <M extends Message> M ask(Message request, Class<M> answerType) throws IOException {
        turn.lock();
        try {
            CompletableFuture<Message> answer = messages.expect();
            connection.send(MessageCodec.encode(request));
            return await(answer, answerType);
        } finally {
            turn.unlock();
        }
    }

    private <M extends Message> M await(CompletableFuture<Message> answer, Class<M> type)
            throws IOException {
        try {
            Message message = answer.get(timeoutNanos, TimeUnit.NANOSECONDS);
            if (type.isInstance(message)) {
                return type.cast(message);
            }
            if (message instanceof Refused(var reason)) {
                throw new RefusedException(reason);
            }
            throw new MessageException(message + " does not answer this");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("interrupted");
            interrupted.initCause(e);
            throw interrupted;
        } catch (TimeoutException e) {
            throw new IOException("the gateway did not answer in time", e);
        } catch (ExecutionException e) {
            throw new IOException("the connection broke", e.getCause());
        }
    }
}
