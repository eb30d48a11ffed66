package io.railhead.rdma.loopback;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The listening socket and the one thread that serves it and all its connections. */
final class LoopbackListener implements AutoCloseable {
    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
            new DefaultThreadFactory("fabric-loopback", true), EpollIoHandler.newFactory());
    private final LoopbackPeers peers;
    private final Channel server;
    private final SocketFile file;

    LoopbackListener(LoopbackConfig config, LoopbackPeers peers) throws IOException {
        this.peers = peers;
        boolean listening = false;
        try {
            SocketFile.clear(config.socket());
            server = bind(config);
            file = SocketFile.bound(config.socket());
            listening = true;
        } finally {
            if (!listening) {
                shutDown();
            }
        }
    }

    private Channel bind(LoopbackConfig config) throws IOException {
        ChannelFuture bound = new ServerBootstrap().group(group)
                .channel(EpollServerDomainSocketChannel.class)
                .childHandler(new ChannelInitializer<EpollDomainSocketChannel>() {
                    @Override
                    protected void initChannel(EpollDomainSocketChannel channel) {
                        channel.pipeline().addLast(new LoopbackConnection(peers, channel));
                    }
                })
                .bind(new DomainSocketAddress(config.socket().toString()))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException("loopback socket " + config.socket() + " cannot be bound",
                    bound.cause());
        }
        return bound.channel();
    }

    boolean isListening() {
        return server.isOpen();
    }

    /** Accepts no more, ends every session, and returns when the last connection has closed. */
    void drain() {
        server.close().awaitUninterruptibly();
        List<ChannelFuture> closed = new ArrayList<>();
        for (LoopbackConnection connection : peers.connections()) {
            closed.add(connection.end());
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
