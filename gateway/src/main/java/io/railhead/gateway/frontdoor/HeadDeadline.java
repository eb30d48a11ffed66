package io.railhead.gateway.frontdoor;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose request head, once begun, does not end in time: an idle timeout never
 * sees a peer that sends a byte now and then. Stands on both sides of one connection's decoder; its
 * event loop only.
 */
final class HeadDeadline extends ChannelInboundHandlerAdapter {
    private final Duration limit;
    private final Runnable onExpired;
    /** Stays on until it goes off, also when a head has come: most heads come at once. */
    private @Nullable Future<?> timer;
    private boolean awaited;
    private long begunNanos;
    private boolean inMessage;

    private HeadDeadline(Duration limit, Runnable onExpired) {
        this.limit = limit;
        this.onExpired = onExpired;
    }

    /** @param onExpired told of each connection that is closed */
    static void guard(ChannelPipeline pipeline, Duration limit, Runnable onExpired) {
        HeadDeadline deadline = new HeadDeadline(limit, onExpired);
        String decoder = pipeline.context(HttpRequestDecoder.class).name();
        pipeline.addBefore(decoder, null, deadline);
        pipeline.addAfter(decoder, null, deadline.new Decoded());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
        if (!inMessage && !awaited) {
            awaited = true;
            begunNanos = System.nanoTime();
            if (timer == null) {
                schedule(context, limit.toNanos());
            }
        }
        context.fireChannelRead(bytes);
    }

    private void schedule(ChannelHandlerContext context, long nanos) {
        timer = context.executor().schedule(() -> look(context), nanos, TimeUnit.NANOSECONDS);
    }

    private void look(ChannelHandlerContext context) {
        timer = null;
        if (!awaited) {
            return;
        }
        long left = limit.toNanos() - (System.nanoTime() - begunNanos);
        if (left > 0) {
            schedule(context, left);
        } else if (context.channel().config().isAutoRead()) {
            onExpired.run();
            Future<?> _ = context.close();
        } else {
            // We do not read: that the rest has not come is no fault of the peer's.
            schedule(context, limit.toNanos());
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (timer != null) {
            timer.cancel(false);
        }
        context.fireChannelInactive();
    }

    /** Sees what the decoder has understood. */
    private final class Decoded extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof HttpRequest request) {
                requireVersion(request);
                inMessage = true;
                awaited = false;
            }
            if (message instanceof LastHttpContent) {
                inMessage = false;
            }
            context.fireChannelRead(message);
        }

        /** What follows a head of another version is framed in a way that nobody here knows. */
        private static void requireVersion(HttpRequest request) {
            HttpVersion version = request.protocolVersion();
            if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)
                    && request.decoderResult().isSuccess()) {
                request.setDecoderResult(DecoderResult
                        .failure(new IllegalArgumentException("neither HTTP/1.1 nor HTTP/1.0")));
            }
        }
    }
}
