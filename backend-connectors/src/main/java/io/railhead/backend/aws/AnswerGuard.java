package io.railhead.backend.aws;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.DecoderResultProvider;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.SocketAddress;

/**
 * Watches that each request gets one answer, and that one whole. The SDK's handlers behind it take
 * a chunked body that was cut off for a complete one, and bytes beyond an answer's end for the next
 * answer; here the first is an error and the second closes the connection. One per connection, on
 * its event loop.
 */
final class AnswerGuard extends ChannelDuplexHandler {
    /** As much as one read from the socket gives. */
    private static final int CHUNK_BYTES = 64 << 10;

    private boolean asked;
    private boolean interim;
    private boolean answering;

    /**
     * A connection that will be guarded before it is made. Once it is active would be too late: who
     * waits for it on its own event loop is told first, and sends at once.
     */
    static NioSocketChannel guardedChannel() {
        NioSocketChannel channel = new NioSocketChannel();
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void connect(ChannelHandlerContext ctx, SocketAddress remote,
                    SocketAddress local, ChannelPromise promise) {
                ChannelPipeline pipeline = ctx.pipeline();
                String codec = pipeline.context(HttpClientCodec.class).name();
                pipeline.replace(codec, codec, largeChunks());
                pipeline.addAfter(codec, null, new AnswerGuard());
                var _ = ctx.connect(remote, local, promise);
                ctx.pipeline().remove(this);
            }
        });
        return channel;
    }

    /**
     * The SDK's own codec, but for bodies in larger pieces than Netty's 8 KiB: each passes a dozen
     * handlers.
     */
    private static HttpClientCodec largeChunks() {
        return new HttpClientCodec(new HttpDecoderConfig().setMaxChunkSize(CHUNK_BYTES), false,
                false);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof HttpRequest) {
            asked = true;
        }
        var _ = ctx.write(message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!asked) {
            ReferenceCountUtil.release(message);
            var _ = ctx.close();
            return;
        }
        if (message instanceof DecoderResultProvider decoded
                && decoded.decoderResult().isFailure()) {
            ReferenceCountUtil.release(message);
            fail(ctx, new IOException("answer is malformed", decoded.decoderResult().cause()));
            return;
        }
        if (message instanceof HttpResponse head) {
            interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            answering = !interim;
        }
        if (message instanceof LastHttpContent && !interim) {
            asked = false;
            answering = false;
        }
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (answering) {
            fail(ctx, new IOException("connection closed in the middle of an answer"));
        }
        ctx.fireChannelInactive();
    }

    private void fail(ChannelHandlerContext ctx, IOException cause) {
        asked = false;
        answering = false;
        ctx.fireExceptionCaught(cause);
        var _ = ctx.close();
    }
}
