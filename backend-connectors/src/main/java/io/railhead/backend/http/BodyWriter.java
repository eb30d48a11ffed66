package io.railhead.backend.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A request's body on its way into a connection. Signals come on any thread. All pieces that have
 * come meanwhile are written with one flush on the event loop. New ones are asked for while the
 * socket takes them.
 */
final class BodyWriter implements Subscriber<ByteBuffer> {
    /** The pieces asked for and not yet handed to the socket. */
    private static final int WINDOW = 4;

    private final StoreConnection connection;
    private final Channel channel;
    private final Queue<ByteBuffer> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicInteger work = new AtomicInteger();
    private volatile @Nullable Subscription upstream;
    private volatile @Nullable Throwable failure;
    private volatile boolean completed;
    private int written; // event loop: pieces that no demand has replaced
    private volatile boolean over;

    BodyWriter(StoreConnection connection, Channel channel) {
        this.connection = connection;
        this.channel = channel;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        upstream = subscription;
        if (over) {
            subscription.cancel();
        } else {
            subscription.request(WINDOW);
        }
    }

    @Override
    public void onNext(ByteBuffer piece) {
        arrived.add(piece);
        schedule();
    }

    @Override
    public void onError(Throwable cause) {
        failure = cause;
        schedule();
    }

    @Override
    public void onComplete() {
        completed = true;
        schedule();
    }

    private void schedule() {
        if (work.getAndIncrement() != 0) {
            return;
        }
        if (channel.eventLoop().inEventLoop()) {
            drain();
            return;
        }
        try {
            channel.eventLoop().execute(this::drain);
        } catch (RejectedExecutionException _) {
            arrived.clear(); // closing: the connection has failed
        }
    }

    private void drain() {
        int missed = 1;
        do {
            if (over) {
                arrived.clear();
            } else {
                step();
            }
            missed = work.addAndGet(-missed);
        } while (missed != 0);
    }

    private void step() {
        Throwable cause = failure;
        if (cause != null) {
            over = true;
            connection.abort(cause);
            return;
        }
        boolean last = completed;
        boolean any = last;
        for (ByteBuffer piece = arrived.poll(); piece != null; piece = arrived.poll()) {
            any = true;
            written++;
            connection.write(new DefaultHttpContent(Unpooled.wrappedBuffer(piece)));
        }
        if (last) {
            over = true;
            connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
        }
        if (any) {
            channel.flush();
        }
        if (last) {
            connection.sent();
        } else {
            writable();
        }
    }

    /** Asks for more if the socket takes it; on the event loop. */
    void writable() {
        Subscription source = upstream;
        if (!over && written > 0 && source != null && channel.isWritable()) {
            int more = written;
            written = 0;
            source.request(more);
        }
    }

    /** Stops the body; on the event loop. */
    void cancel() {
        over = true;
        arrived.clear();
        Subscription source = upstream;
        if (source != null) {
            source.cancel();
        }
    }
}
