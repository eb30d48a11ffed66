package io.railhead.gateway.frontdoor;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The front door's open connections, bounded below the number of descriptors. A new connection
 * above the limit closes the one of its event loop that has waited longest for a request. So a
 * flood of silent connections drives out its own. Where all are serving requests, the new
 * connection is closed.
 */
public final class Connections {
    private volatile int limit;
    private final Consumer<String> onClosed;
    private final AtomicInteger open = new AtomicInteger();
    private final ChannelGroup all = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /** @param onClosed receives the reason of each closed connection */
    public Connections(int limit, Consumer<String> onClosed) {
        this.limit = required(limit);
        this.onClosed = onClosed;
    }

    private static int required(int limit) {
        if (limit <= 0) {
            throw new IllegalArgumentException("limit must be > 0: " + limit);
        }
        return limit;
    }

    /** Sets the limit for connections that are accepted from now on. */
    public void limit(int other) {
        limit = required(other);
    }

    public int open() {
        return open.get();
    }

    public int limit() {
        return limit;
    }

    /** Closes all connections at once, whatever waits to be sent. */
    void cut() {
        all.forEach(Connections::cut);
    }

    /**
     * Closes past Vert.x, which waits until everything is sent: a client that reads nothing would
     * delay the close.
     */
    private static void cut(Channel connection) {
        ChannelHandlerContext first = connection.pipeline().firstContext();
        if (first != null) {
            var _ = first.close();
        }
    }

    /** The connections of one event loop, used on that loop only. */
    final class OfLoop {
        /** Those without a request, in the order in which they began to wait for one. */
        private final SequencedSet<Channel> waiting = new LinkedHashSet<>();

        /** Adds a connection that has just been accepted, and the handler that keeps its state. */
        ConnectionState add(ChannelHandlerContext last) {
            all.add(last.channel());
            boolean full = open.incrementAndGet() > limit;
            Channel oldest = full ? takeOldest() : null;
            waiting.add(last.channel());
            ConnectionState state = new ConnectionState(waiting, open::decrementAndGet);
            last.pipeline().addBefore(last.name(), null, state);
            if (oldest != null) {
                onClosed.accept("room");
                cut(oldest);
            } else if (full) {
                onClosed.accept("connections");
                cut(last.channel());
            }
            return state;
        }

        /**
         * Takes the connection that has waited longest out of the waiting ones. A close is reported
         * only after later connections were accepted, so closed ones are skipped.
         */
        private @Nullable Channel takeOldest() {
            for (Iterator<Channel> all = waiting.iterator(); all.hasNext();) {
                Channel oldest = all.next();
                all.remove();
                if (oldest.isOpen()) {
                    return oldest;
                }
            }
            return null;
        }
    }
}
