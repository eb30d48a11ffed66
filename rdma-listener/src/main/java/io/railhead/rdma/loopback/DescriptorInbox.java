package io.railhead.rdma.loopback;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.Future;
import io.railhead.os.DescriptorMessage;
import io.railhead.os.UnixSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a peer's descriptor outside Netty's channel, which must not read meanwhile. Netty's own
 * receive leaks any further descriptor that a message brings.
 *
 * <p> It waits on a duplicate of the socket, which it owns, since epoll takes each descriptor once.
 * The peer sees the end of the connection only when the duplicate is closed too. Event loop only.
 */
final class DescriptorInbox implements EpollIoHandle {
    private final FileDescriptor ownedDuplicate;
    private final Runnable readable;
    private @Nullable IoRegistration registration;

    private DescriptorInbox(FileDescriptor ownedDuplicate, Runnable readable) {
        this.ownedDuplicate = ownedDuplicate;
        this.readable = readable;
    }

    /**
     * Starts waiting, until it is closed.
     *
     * @param readable runs whenever there is something to receive, on the event loop
     */
    static DescriptorInbox open(EpollDomainSocketChannel channel, Runnable readable) {
        DescriptorInbox inbox = new DescriptorInbox(
                new FileDescriptor(UnixSocket.duplicate(channel.fd().intValue())), readable);
        try {
            inbox.watch((IoEventLoop) channel.eventLoop());
            return inbox;
        } catch (RuntimeException | Error e) {
            inbox.close();
            throw e;
        }
    }

    private void watch(IoEventLoop loop) {
        Future<IoRegistration> registered = loop.register(this);
        if (!registered.isSuccess()) {
            throw new IllegalStateException("the event loop takes no more", registered.cause());
        }
        registration = registered.getNow();
        long _ = registration.submit(EpollIoOps.EPOLLIN);
    }

    /** Receives the descriptor. Throws {@code OsException} if the connection broke. */
    DescriptorMessage receive() {
        return UnixSocket.receiveDescriptor(ownedDuplicate.intValue());
    }

    @Override
    public FileDescriptor fd() {
        return ownedDuplicate;
    }

    @Override
    public void handle(IoRegistration mine, IoEvent event) {
        if (ownedDuplicate.isOpen()) {
            readable.run();
        }
    }

    /** Stops waiting; further calls do nothing. */
    @Override
    public void close() {
        if (!ownedDuplicate.isOpen()) {
            return;
        }
        if (registration != null) {
            registration.cancel();
        }
        try {
            ownedDuplicate.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
