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
 * Closes a connection whose request head, once begun, does not end in time. An idle timeout would
 * never fire on a peer that sends a byte now and then. Has a handler on either side of the
 * connection's decoder; event loop only.
 */
final class HeadDeadline extends ChannelInboundHandlerAdapter {
    private final Duration limit;
    private final Runnable onExpired;
    /**
     * Stays scheduled until it fires, even if the head has ended: most heads end at once, and one
     * timer then serves many of them.
     */
    private @Nullable Future<?> timer;
    private boolean awaited;
    private long begunNanos;
    private boolean inMessage;

    private HeadDeadline(Duration limit, Runnable onExpired) {
        this.limit = limit;
        this.onExpired = onExpired;
    }

    /** @param onExpired called for each connection that is closed */
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
            // The gateway has paused reading, so the missing rest of the head is not the peer's
            // fault.
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

    /** Handles the decoder's output. */
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

        /** Rejects other HTTP versions: the framing of the bytes behind such a head is unknown. */
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
