package io.railhead.rdma.loopback;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.railhead.os.MemoryFile;
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
import io.railhead.rdma.session.Message.SendDescriptor;
import io.railhead.rdma.session.Message.Welcome;
import io.railhead.rdma.session.MessageCodec;
import io.railhead.rdma.session.MessageException;
import io.railhead.rdma.session.Octets;
import io.railhead.rdma.session.SessionKey;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A process's end of a loopback session: proves it, registers memory. Any thread; each call blocks,
 * and they take turns.
 *
 * <p> Registered memory may be touched by the gateway until {@link #deregister} or {@link #close}
 * has returned, or the connection's end was heard ({@link #onClosed}). A call that fails by time
 * leaves the connection in a state nobody knows: it is closed.
 */
public final class LoopbackPeer implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
            new DefaultThreadFactory("loopback-peer", true), EpollIoHandler.newFactory());
    private final PeerHandler handler = new PeerHandler();
    private final ReentrantLock turn = new ReentrantLock();
    private final long timeoutNanos;
    private final Channel channel;
    private final Welcome welcome;

    private LoopbackPeer(Path socket, String sessionId, byte[] sessionKey, Duration timeout)
            throws IOException {
        timeoutNanos = timeout.toNanos();
        boolean open = false;
        try {
            // Before there is a connection: a gateway that is busy says so at once.
            CompletableFuture<Message> first = handler.expect();
            channel = connect(socket);
            welcome = prove(first, sessionId, sessionKey);
            open = true;
        } finally {
            if (!open) {
                shutDown();
            }
        }
    }

    /**
     * Connects and proves the key; checks that the gateway holds it too. Throws
     * {@link RefusedException} with the gateway's reason.
     *
     * @param timeout of each call
     */
    public static LoopbackPeer connect(Path socket, String sessionId, byte[] sessionKey,
            Duration timeout) throws IOException {
        return new LoopbackPeer(socket, sessionId, sessionKey, timeout);
    }

    private Channel connect(Path socket) throws IOException {
        ChannelFuture connected = new Bootstrap().group(group)
                .channel(EpollDomainSocketChannel.class)
                .handler(handler)
                .connect(new DomainSocketAddress(socket.toString()))
                .awaitUninterruptibly();
        if (!connected.isSuccess()) {
            throw new IOException("cannot connect to " + socket, connected.cause());
        }
        return connected.channel();
    }

    private Welcome prove(CompletableFuture<Message> first, String sessionId, byte[] sessionKey)
            throws IOException {
        Octets mine = Octets.random(RANDOM);
        write(Unpooled.wrappedBuffer(MessageCodec.encode(new Hello(sessionId, mine))));
        Octets theirs = await(first, Challenge.class).nonce();
        Welcome answer = ask(
                new Proof(SessionKey.clientProof(sessionKey, sessionId, mine, theirs)),
                Welcome.class);
        if (!SessionKey.serverProof(sessionKey, sessionId, mine, theirs).equals(answer.proof())) {
            throw new IOException("the other side of the socket does not hold the session's key");
        }
        return answer;
    }

    /** The session's number, for tokens. */
    public int sessionNumber() {
        return welcome.session();
    }

    /** How many buffers may be registered at a time. */
    public int maxBuffers() {
        return welcome.limits().maxBuffers();
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    /**
     * Registers the whole of a file's memory. The file's descriptor is not needed afterwards.
     *
     * @param baseAddress how tokens will name its first byte: the address of this process's own
     *            mapping
     * @return the key for tokens
     */
    public int register(MemoryFile file, long baseAddress) throws IOException {
        return register(file.descriptor(), baseAddress, file.bytes());
    }

    int register(int descriptor, long baseAddress, long length) throws IOException {
        turn.lock();
        try {
            ask(new Register(baseAddress, length, 0), SendDescriptor.class);
            CompletableFuture<Message> answer = handler.expect();
            write(new FileDescriptor(descriptor));
            return await(answer, Registered.class).key();
        } finally {
            turn.unlock();
        }
    }

    /** Returns when the gateway no longer touches the memory. */
    public void deregister(int key) throws IOException {
        ask(new Deregister(key), Deregistered.class);
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
        var _ = handler.closed().thenRun(listener);
    }

    /** Says BYE and waits until the gateway has let go of all memory. Idempotent. */
    @Override
    public void close() {
        turn.lock();
        try {
            if (channel.isOpen()) {
                write(Unpooled.wrappedBuffer(MessageCodec.encode(new Bye())));
                handler.closed().get(timeoutNanos, TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException _) {
            // The gateway is stuck: it hears of the end by the socket.
        } finally {
            turn.unlock();
            shutDown();
        }
    }

    void sendUnasked(int descriptor) {
        write(new FileDescriptor(descriptor));
    }

    /** Goes away without a word, as a killed process does. */
    void drop() {
        shutDown();
    }

    private <M extends Message> M ask(Message request, Class<M> answerType) throws IOException {
        turn.lock();
        try {
            CompletableFuture<Message> answer = handler.expect();
            write(Unpooled.wrappedBuffer(MessageCodec.encode(request)));
            return await(answer, answerType);
        } finally {
            turn.unlock();
        }
    }

    private void write(Object bytesOrDescriptor) {
        channel.writeAndFlush(bytesOrDescriptor)
                .addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
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
            var _ = channel.close();
            throw new MessageException(message + " does not answer this");
        } catch (InterruptedException e) {
            var _ = channel.close();
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("interrupted");
            interrupted.initCause(e);
            throw interrupted;
        } catch (TimeoutException e) {
            var _ = channel.close();
            throw new IOException("the gateway did not answer in time", e);
        } catch (ExecutionException e) {
            throw new IOException("the connection broke", e.getCause());
        }
    }

    private void shutDown() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
