package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose client sends or takes a body below a minimum average rate. An idle
 * timeout would never fire on a peer that moves a byte now and then. Only time spent waiting for
 * the client counts: while the gateway reads, and while written bytes wait for the socket. Stands
 * before one connection's last handler; event loop only.
 */
final class MinimumRateGuard extends ChannelDuplexHandler {
    private final Limit limit;
    private final Consumer<String> onSlow;

    private boolean inBody;
    private boolean reading;
    private long readingSinceNanos;
    private long readingNanos;
    private long received;

    private @Nullable Future<?> timer;
    private boolean waited;
    private long written;
    private long takenBefore;

    /** At least so many bytes in each period {@code over}. */
    record Limit(long bytes, Duration over) {

        static Limit of(long bytesInASecond, Duration over) {
            return new Limit((long) (bytesInASecond * (over.toNanos() / 1e9)), over);
        }
    }

    /** @param onSlow receives the reason of each closed connection */
    MinimumRateGuard(Limit limit, Consumer<String> onSlow) {
        this.limit = limit;
        this.onSlow = onSlow;
    }

    @Override
    public void read(ChannelHandlerContext context) {
        if (inBody && !reading) {
            reading = true;
            readingSinceNanos = System.nanoTime();
        }
        context.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest) {
            inBody = true;
            beginAnew();
        }
        if (inBody && message instanceof HttpContent content) {
            received(context, content.content().readableBytes());
        }
        if (message instanceof LastHttpContent) {
            inBody = false;
        }
        context.fireChannelRead(message);
    }

    private void received(ChannelHandlerContext context, int bytes) {
        received += bytes;
        if (reading) {
            reading = false;
            readingNanos += System.nanoTime() - readingSinceNanos;
        }
        if (readingNanos >= limit.over().toNanos()) {
            if (received < limit.bytes()) {
                close(context, "slow_sender");
            }
            beginAnew();
        }
    }

    private void beginAnew() {
        reading = false;
        readingNanos = 0;
        received = 0;
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise done) {
        // A client that was told to continue has waited for the gateway until now.
        beginAnew();
        if (message instanceof ByteBufHolder holder) {
            wrote(context, holder.content().readableBytes());
        }
        var _ = context.write(message, done);
    }

    /** Counts bytes that the client is now expected to take. */
    void wrote(ChannelHandlerContext context, long bytes) {
        written += bytes;
        if (timer == null) {
            schedule(context);
        }
    }

    private void schedule(ChannelHandlerContext context) {
        timer = context.executor()
                .schedule(() -> look(context), limit.over().toNanos(), TimeUnit.NANOSECONDS);
    }

    private void look(ChannelHandlerContext context) {
        timer = null;
        ChannelOutboundBuffer pending = context.channel().unsafe().outboundBuffer();
        if (pending == null || pending.isEmpty()) {
            waited = false;
            return;
        }
        long taken = written - pending.totalPendingWriteBytes() + pending.currentProgress();
        if (waited && taken - takenBefore < limit.bytes()) {
            close(context, "slow_reader");
            return;
        }
        waited = true;
        takenBefore = taken;
        schedule(context);
    }

    private void close(ChannelHandlerContext context, String reason) {
        onSlow.accept(reason);
        Future<?> _ = context.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (timer != null) {
            timer.cancel(false);
        }
        context.fireChannelInactive();
    }
}
