package io.railhead.backend.aws;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.CombinedChannelDuplexHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.DecoderResultProvider;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.logging.LoggingHandler;
import io.netty.util.ReferenceCountUtil;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks that each request gets exactly one complete response, and corrects four faults of the
 * SDK's handlers behind it. One handler for each connection, on its event loop.
 *
 * <ul> <li>They take a chunked body that was cut off for a complete one; here that is an error.
 * <li>They take bytes behind a response's end for the next response; here those close the
 * connection. The end is held back until all bytes that came with it were checked, since it frees
 * the connection for the next request. <li>They do not read while they send. Here a refusal in the
 * middle of an upload is delivered at once. The connection is then closed, since the rest of the
 * body does not come. <li>They handle no interim response except an expected 100; others are
 * dropped here. </ul>
 *
 * A store that refuses and closes makes writes fail. Its response, received before, still counts: a
 * failed write neither closes the connection nor is reported.
 */
final class ResponseValidator extends ChannelDuplexHandler {
    /** The size of one read from the socket. */
    private static final int CHUNK_BYTES = 64 << 10;
    /** The longest status line, and the longest line before a chunk. */
    static final int MAX_LINE_BYTES = 8 << 10;
    /** The limit of all headers together, and of all trailers: S3's own stay below 16 KiB. */
    static final int MAX_HEADERS_BYTES = 64 << 10;

    private final Decoder decoder = new Decoder();
    private boolean asked;
    /** True while the request's end has not been sent. */
    private boolean sending;
    /** True while the store must still ask for the body. */
    private boolean expecting;
    private boolean interim;
    /** True while the current message is an unexpected interim response. */
    private boolean dropping;
    private boolean answering;
    /** Set for methods whose requests may have a body. */
    private boolean uploading;
    /** True if the request's body is what the store must store. */
    private boolean storing;
    /**
     * A success that came before the request's end. It is delivered after that end if the store may
     * not need the body. If the body must be stored, such a success is an error and is delivered at
     * once.
     */
    private final List<Object> early = new ArrayList<>();
    private @Nullable LastHttpContent end;

    /** Returns a connection that is guarded before any request uses it. */
    static NioSocketChannel guardedChannel() {
        return new GuardedChannel();
    }

    /**
     * A channel that adds its guard as soon as the SDK has set it up. With a proxy that is later,
     * since the tunnel's codec comes and goes first. Every request takes the pipeline from here
     * before its first use.
     */
    private static final class GuardedChannel extends NioSocketChannel {
        private volatile boolean guarded;

        GuardedChannel() {
            config().setAutoClose(false);
        }

        @Override
        public ChannelPipeline pipeline() {
            ChannelPipeline pipeline = super.pipeline();
            if (!guarded) {
                guard(pipeline);
            }
            return pipeline;
        }

        /** Adds the guard; the SDK's logger is the last of the handlers that stay. */
        private synchronized void guard(ChannelPipeline pipeline) {
            ChannelHandlerContext codec = pipeline.context(HttpClientCodec.class);
            if (!guarded && codec != null && pipeline.context(LoggingHandler.class) != null) {
                guarded = true;
                ResponseValidator guard = new ResponseValidator();
                pipeline.replace(codec.name(), codec.name(), guard.codec());
                pipeline.addAfter(codec.name(), null, guard);
            }
        }
    }

    /** Returns the codec that must stand before this handler. */
    ChannelHandler codec() {
        return new CombinedChannelDuplexHandler<>(decoder, new HttpRequestEncoder());
    }

    /**
     * Netty's decoder with the gateway's limits, and with larger body pieces than 8 KiB, since each
     * piece passes a dozen handlers.
     */
    private static final class Decoder extends HttpResponseDecoder {
        private boolean ofHead;
        /** True if bytes of an incomplete message have come. */
        private boolean begun;

        Decoder() {
            super(new HttpDecoderConfig().setMaxChunkSize(CHUNK_BYTES)
                    .setMaxInitialLineLength(MAX_LINE_BYTES)
                    .setMaxHeaderSize(MAX_HEADERS_BYTES));
        }

        @Override
        protected boolean isContentAlwaysEmpty(HttpMessage message) {
            return ofHead || super.isContentAlwaysEmpty(message);
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf buffer, List<Object> messages)
                throws Exception {
            int before = messages.size();
            super.decode(ctx, buffer, messages);
            begun = messages.size() == before;
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof HttpRequest request) {
            asked = true;
            sending = true;
            uploading = request.method().equals(HttpMethod.PUT)
                    || request.method().equals(HttpMethod.POST);
            storing = request.method().equals(HttpMethod.PUT)
                    && !request.headers().contains("x-amz-copy-source");
            expecting = HttpUtil.is100ContinueExpected(request);
            decoder.ofHead = request.method().equals(HttpMethod.HEAD);
        }
        if (message instanceof LastHttpContent) {
            sending = false;
            if (!early.isEmpty()) {
                ctx.executor().execute(() -> hear(ctx));
            }
        }
        var _ = ctx.write(message, ctx.newPromise().addListener(written -> {
            if (written.isSuccess()) {
                promise.trySuccess();
            } else {
                unwritten(ctx, written.cause(), promise);
            }
        }));
    }

    /** Handles a failed write: the response or the connection's end, which follows, says more. */
    private void unwritten(ChannelHandlerContext ctx, Throwable cause, ChannelPromise promise) {
        if (cause instanceof IOException && ctx.channel().isActive()) {
            ctx.read();
        } else {
            promise.tryFailure(cause);
        }
    }

    private void hear(ChannelHandlerContext ctx) {
        if (!early.isEmpty()) {
            List<Object> messages = List.copyOf(early);
            early.clear();
            messages.forEach(message -> channelRead(ctx, message));
            channelReadComplete(ctx);
        }
    }

    private boolean isEarly(Object message) {
        return !early.isEmpty() || (sending && !storing && message instanceof HttpResponse head
                && head.status().codeClass() == HttpStatusClass.SUCCESS);
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        ctx.flush();
        listenWhileSending(ctx);
    }

    private void listenWhileSending(ChannelHandlerContext ctx) {
        if (sending && !answering && early.isEmpty()) {
            ctx.read();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (isEarly(message)) {
            early.add(message);
            return;
        }
        if (!asked) {
            ReferenceCountUtil.release(message);
            var _ = ctx.close();
            return;
        }
        if (message instanceof DecoderResultProvider decoded
                && decoded.decoderResult().isFailure()) {
            ReferenceCountUtil.release(message);
            fail(ctx, undecodable(decoded.decoderResult().cause()));
            return;
        }
        if (message instanceof HttpResponse head) {
            if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
                ReferenceCountUtil.release(message);
                fail(ctx, new BackendException(Reason.MALFORMED,
                        "the store speaks another protocol, unasked", null));
                return;
            }
            interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            dropping = interim && !isExpected(head);
            answering = !interim;
            if (answering && (sending || isRefusedUpload(head))) {
                HttpUtil.setKeepAlive(head, false);
            }
        }
        if (dropping) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof LastHttpContent last && !interim) {
            asked = false;
            answering = false;
            end = last;
            return;
        }
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        handOnEnd(ctx);
        ctx.fireChannelReadComplete();
        if (dropping) {
            // No other handler got a message that would make it read on.
            ctx.read();
        }
        listenWhileSending(ctx);
    }

    /**
     * Returns whether an upload was refused. Many stores then close without saying so, and the next
     * upload on the connection would be lost.
     */
    private boolean isRefusedUpload(HttpResponse head) {
        return uploading && head.status().code() >= HttpResponseStatus.BAD_REQUEST.code();
    }

    /** Returns whether an interim response is expected; one 100 Continue is, once. */
    private boolean isExpected(HttpResponse interimAnswer) {
        boolean expected = expecting
                && interimAnswer.status().equals(HttpResponseStatus.CONTINUE);
        expecting &= !expected;
        return expected;
    }

    private void handOnEnd(ChannelHandlerContext ctx) {
        LastHttpContent last = end;
        if (last != null) {
            end = null;
            if (decoder.begun) {
                var _ = ctx.close();
            }
            ctx.fireChannelRead(last);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        sending = false;
        hear(ctx);
        handOnEnd(ctx);
        if (answering) {
            fail(ctx, new IOException("connection closed in the middle of an answer"));
        }
        ctx.fireChannelInactive();
    }

    private static BackendException undecodable(Throwable cause) {
        if (cause instanceof TooLongHttpHeaderException) {
            return new BackendException(Reason.OVERSIZED, "answer has more than "
                    + (MAX_HEADERS_BYTES >> 10) + " KiB of headers", cause);
        }
        return cause instanceof TooLongHttpLineException
                ? new BackendException(Reason.OVERSIZED, "answer has a line of more than "
                        + (MAX_LINE_BYTES >> 10) + " KiB", cause)
                : new BackendException(Reason.MALFORMED, "answer is malformed", cause);
    }

    private void fail(ChannelHandlerContext ctx, Exception cause) {
        asked = false;
        answering = false;
        ctx.fireExceptionCaught(cause);
        var _ = ctx.close();
    }
}
