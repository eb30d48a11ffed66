package io.railhead.rdma.loopback;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.MessageHeader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The listening socket and the one thread that serves it and all its connections. */
final class LoopbackListener implements AutoCloseable {
    /** Room for responses to messages that are no requests. */
    private static final int SPARE_MESSAGES = 4;

    /** The longest time that the loop spins before it sleeps. */
    private static final long SPIN_NANOS = 50_000;
    /** Further events come with the next poll. */
    private static final int MAX_EVENTS = 256;

    private final EventLoopGroup group;
    private final LoopbackPeers peers;
    private final Channel server;
    private final SocketFile file;

    LoopbackListener(LoopbackConfig config, LoopbackPeers peers) throws IOException {
        this.peers = peers;
        this.group = new MultiThreadIoEventLoopGroup(1, LoopbackListener::thread,
                EpollIoHandler.newFactory(MAX_EVENTS,
                        () -> new AdaptiveSelect(SPIN_NANOS,
                                peers.counts().idleSpinNanos())));
        boolean listening = false;
        try {
            Path draft = SocketFile.draft(config.socket());
            server = bind(config, draft);
            file = SocketFile.publish(draft, config.socket());
            listening = true;
        } finally {
            if (!listening) {
                shutDown();
            }
        }
    }

    private Channel bind(LoopbackConfig config, Path draft) throws IOException {
        ChannelFuture bound = new ServerBootstrap().group(group)
                .channel(EpollServerDomainSocketChannel.class)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, answersWaterMark(config))
                .childHandler(new ChannelInitializer<EpollDomainSocketChannel>() {
                    @Override
                    protected void initChannel(EpollDomainSocketChannel channel) {
                        channel.pipeline().addLast(new LoopbackConnection(peers, channel));
                    }
                })
                .bind(new DomainSocketAddress(draft.toString()))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException("loopback socket " + config.socket() + " cannot be bound",
                    bound.cause());
        }
        return bound.channel();
    }

    /**
     * Bounds unread answers: a client that reads never lets more pile up than its credits allow.
     */
    private static WriteBufferWaterMark answersWaterMark(LoopbackConfig config) {
        int high = (config.maxRequests() + SPARE_MESSAGES) * MessageHeader.MAX_MESSAGE_BYTES;
        return new WriteBufferWaterMark(high / 2, high);
    }

    private static Thread thread(Runnable task) {
        Thread thread = new FastThreadLocalThread(task, "fabric-loopback");
        thread.setDaemon(true);
        return thread;
    }

    boolean isListening() {
        return server.isOpen();
    }

    /** Stops accepting, ends every session, and returns when the last connection has closed. */
    void drain() {
        server.close().awaitUninterruptibly();
        List<ChannelFuture> closed = new ArrayList<>();
        for (LoopbackConnection connection : peers.connections()) {
            closed.add(connection.end(EndReason.SHUTTING_DOWN));
        }
        closed.forEach(ChannelFuture::awaitUninterruptibly);
    }

    /** Ends the thread; after {@link #drain}. */
    @Override
    public void close() throws IOException {
        shutDown();
        file.delete();
    }

    private void shutDown() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
