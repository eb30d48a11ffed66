package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Vert.x's request decoder, made stricter. Event loop only.
 *
 * <ul> <li>A head, once begun, must end in time, or the connection is closed. An idle timeout would
 * never fire on a peer that sends a byte now and then. <li>A Content-Length beside a
 * Transfer-Encoding is refused. The usual decoder drops the length silently, and a proxy on the way
 * may have framed by it (RFC 9112 §6.3). <li>Other versions than HTTP/1.1 and HTTP/1.0 are refused:
 * the framing of the bytes behind such a head is unknown. </ul>
 */
final class StrictDecoder extends VertxHttpRequestDecoder {
    private final Duration headTimeout;
    private final Runnable onExpired;
    /**
     * Stays scheduled until it fires, even if the head has ended: most heads end at once, and one
     * timer then serves many of them.
     */
    private @Nullable Future<?> timer;
    private boolean awaited;
    private long begunNanos;
    private boolean inMessage;

    private StrictDecoder(HttpServerOptions options, Duration headTimeout, Runnable onExpired) {
        super(options);
        this.headTimeout = headTimeout;
        this.onExpired = onExpired;
    }

    /**
     * Replaces the decoder before the connection's first byte; event loop only.
     *
     * @param onExpired called if the connection is closed for a slow head
     */
    static void replaceIn(ChannelPipeline pipeline, HttpServerOptions options,
            Duration headTimeout, Runnable onExpired) {
        String name = pipeline.context(HttpRequestDecoder.class).name();
        pipeline.replace(name, name, new StrictDecoder(options, headTimeout, onExpired));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
        if (!inMessage && !awaited) {
            awaited = true;
            begunNanos = System.nanoTime();
            if (timer == null) {
                schedule(context, headTimeout.toNanos());
            }
        }
        super.channelRead(context, bytes);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> messages)
            throws Exception {
        int known = messages.size();
        super.decode(context, bytes, messages);
        for (int i = known; i < messages.size(); i++) {
            decoded(messages.get(i));
        }
    }

    private void decoded(Object message) {
        if (message instanceof HttpRequest request) {
            requireVersion(request);
            inMessage = true;
            awaited = false;
        }
        if (message instanceof LastHttpContent) {
            inMessage = false;
        }
    }

    private static void requireVersion(HttpRequest request) {
        HttpVersion version = request.protocolVersion();
        if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)
                && request.decoderResult().isSuccess()) {
            request.setDecoderResult(DecoderResult
                    .failure(new IllegalArgumentException("neither HTTP/1.1 nor HTTP/1.0")));
        }
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new IllegalArgumentException("Content-Length beside Transfer-Encoding");
    }

    private void schedule(ChannelHandlerContext context, long nanos) {
        timer = context.executor().schedule(() -> look(context), nanos, TimeUnit.NANOSECONDS);
    }

    private void look(ChannelHandlerContext context) {
        timer = null;
        if (!awaited) {
            return;
        }
        long left = headTimeout.toNanos() - (System.nanoTime() - begunNanos);
        if (left > 0) {
            schedule(context, left);
        } else if (context.channel().config().isAutoRead()) {
            onExpired.run();
            Future<?> _ = context.close();
        } else {
            // The gateway has paused reading, so the missing rest of the head is not the peer's
            // fault.
            schedule(context, headTimeout.toNanos());
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        if (timer != null) {
            timer.cancel(false);
        }
        super.channelInactive(context);
    }
}
