package io.railhead.backend.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.DecoderResultProvider;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.ReferenceCountUtil;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * One connection to a store: one exchange after another, each with exactly one complete response.
 * Its state belongs to the channel's event loop.
 *
 * <ul> <li>A body that was cut off is a failure, whatever its framing. <li>Bytes behind a
 * response's end close the connection. A response ends only after all bytes that came with its end
 * were checked. <li>A refusal in the middle of an upload is delivered at once, and the connection
 * closed after it, since the rest of the body does not come. A success that needs no body is
 * delivered after the request's end. <li>Interim responses are dropped, except one expected 100.
 * </ul>
 *
 * A store that refuses and closes makes writes fail. Its response, received before, still counts: a
 * failed write neither closes the connection nor is reported.
 *
 * <p> A long class, since each rule looks at the state of the others.
 */
public final class StoreConnection extends ChannelInboundHandlerAdapter {
    private final EndpointPool pool;
    private final Channel channel;
    private final ResponseDecoder decoder;
    private @Nullable StoreExchange current;
    private @Nullable BodyWriter writer;
    /** True while the request's end has not been sent. */
    private boolean sending;
    /** True while the store must still ask for the body. */
    private boolean expecting;
    private boolean interim;
    /** True between the final response's head and its end. */
    private boolean answering;
    /** True once the response's end has come, and until all that came with it is checked. */
    private boolean ended;
    private boolean reusable;
    /** The bytes of the body that are still to come; negative if its length is unknown. */
    private long rest;
    /** True if the bytes of the last read lie where the exchange wants them. */
    private boolean landing;
    private boolean encrypted;
    /** A success that came before the request's end, held back until that end. */
    private final List<Object> early = new ArrayList<>();
    private long idleSinceNanos;
    private boolean watched;

    StoreConnection(EndpointPool pool, Channel channel, ResponseDecoder decoder) {
        this.pool = pool;
        this.channel = channel;
        this.decoder = decoder;
    }

    /** Notes that received bytes must be decrypted, so that none can land in a reader's memory. */
    void encrypted() {
        encrypted = true;
    }

    boolean isOpen() {
        return channel.isActive();
    }

    public EventLoop eventLoop() {
        return channel.eventLoop();
    }

    /** Runs the exchange on the event loop, or on another connection if this one has closed. */
    void start(StoreExchange exchange) {
        onEventLoop(() -> {
            if (!channel.isActive()) {
                pool.acquire(exchange);
            } else if (exchange.begin(this)) {
                send(exchange);
            } else {
                free();
            }
        }, () -> exchange.failed(new IOException("the connection is closing")));
    }

    private void onEventLoop(Runnable task, Runnable orElse) {
        if (channel.eventLoop().inEventLoop()) {
            task.run();
            return;
        }
        try {
            channel.eventLoop().execute(task);
        } catch (RejectedExecutionException _) {
            orElse.run();
        }
    }

    private void send(StoreExchange exchange) {
        current = exchange;
        HttpRequest request = exchange.request();
        Publisher<ByteBuffer> body = exchange.body();
        decoder.expect(request.method().equals(HttpMethod.HEAD));
        sending = body != null;
        expecting = sending && HttpUtil.is100ContinueExpected(request);
        reusable = true;
        channel.config().setAutoRead(true);
        write(request);
        if (body == null) {
            write(LastHttpContent.EMPTY_LAST_CONTENT);
        }
        channel.flush();
        if (body != null && !expecting) {
            stream(body);
        }
    }

    private void stream(Publisher<ByteBuffer> body) {
        BodyWriter started = new BodyWriter(this, channel);
        writer = started;
        body.subscribe(started);
    }

    void write(Object message) {
        var _ = channel.write(message)
                .addListener(written -> {
                    Throwable cause = written.cause();
                    if (cause != null && !(cause instanceof IOException && channel.isActive())) {
                        fail(cause);
                    }
                });
    }

    /** Notes that the request is sent to its end, and delivers what was held back. */
    void sent() {
        sending = false;
        writer = null;
        if (!early.isEmpty()) {
            channel.eventLoop().execute(this::hear);
        }
    }

    private void hear() {
        if (!early.isEmpty()) {
            List<Object> messages = List.copyOf(early);
            early.clear();
            messages.forEach(this::take);
            endOfRead();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        BodyWriter streaming = writer;
        if (streaming != null) {
            streaming.writable();
        }
    }

    /** Returns whether a body's bytes are expected next. */
    boolean isInBody() {
        return answering;
    }

    /**
     * Returns whether one more read is needed: the last one had room for no byte behind the body,
     * so none was checked.
     */
    boolean mustLookBehind() {
        return ended && landing;
    }

    /**
     * Returns memory of the exchange for the next read, at most as long as the rest of the body;
     * null if there is none.
     */
    @Nullable
    ByteBuffer room() {
        StoreExchange exchange = current;
        landing = false;
        if (exchange == null || !answering || ended || encrypted || rest <= 0
                || !early.isEmpty()) {
            return null;
        }
        ByteBuffer room = exchange.room();
        if (room == null || !room.hasRemaining()) {
            return null;
        }
        landing = true;
        return room.remaining() <= rest ? room : room.slice(room.position(), (int) rest);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (isEarly(message)) {
            early.add(message);
        } else {
            take(message);
        }
    }

    /** Returns whether a response is held back: a success of a request that stores no body. */
    private boolean isEarly(Object message) {
        return !early.isEmpty()
                || (sending && message instanceof HttpResponse head && !isStoring()
                        && head.status().codeClass() == HttpStatusClass.SUCCESS);
    }

    /** Returns whether the request's body is what the store must store. */
    private boolean isStoring() {
        StoreExchange exchange = current;
        return exchange != null && exchange.request().method().equals(HttpMethod.PUT)
                && !exchange.request().headers().contains("x-amz-copy-source");
    }

    private void take(Object message) {
        try {
            StoreExchange exchange = current;
            if (exchange == null) {
                close();
            } else if (ended) {
                reusable = false;
            } else if (message instanceof DecoderResultProvider decoded
                    && decoded.decoderResult().isFailure()) {
                fail(undecodable(decoded.decoderResult().cause()));
            } else {
                if (message instanceof HttpResponse head) {
                    head(exchange, head);
                }
                if (message instanceof HttpContent content) {
                    content(exchange, content);
                }
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void head(StoreExchange exchange, HttpResponse head) {
        interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
        if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
            fail(new BackendException(Reason.MALFORMED,
                    "the store speaks another protocol, unasked", null));
        } else if (!interim) {
            answering = true;
            reusable = HttpUtil.isKeepAlive(head) && !sending && !isRefusedUpload(exchange, head);
            rest = HttpUtil.isTransferEncodingChunked(head)
                    ? -1
                    : HttpUtil.getContentLength(head, -1L);
            exchange.head(head);
        } else if (expecting && head.status().equals(HttpResponseStatus.CONTINUE)) {
            expecting = false;
            Publisher<ByteBuffer> body = exchange.body();
            if (body != null) {
                stream(body);
            }
        }
    }

    /**
     * Returns whether an upload was refused. Many stores then close without saying so, and the next
     * upload on the connection would be lost.
     */
    private static boolean isRefusedUpload(StoreExchange exchange, HttpResponse head) {
        HttpMethod method = exchange.request().method();
        return (method.equals(HttpMethod.PUT) || method.equals(HttpMethod.POST))
                && head.status().code() >= HttpResponseStatus.BAD_REQUEST.code();
    }

    private void content(StoreExchange exchange, HttpContent content) {
        if (interim || !answering) {
            return;
        }
        ByteBuf bytes = content.content();
        if (bytes.isReadable()) {
            rest -= rest < 0 ? 0 : bytes.readableBytes();
            if (landing) {
                exchange.landed(bytes.readableBytes());
            } else {
                exchange.content(bytes);
            }
        }
        ended = exchange.equals(current) && content instanceof LastHttpContent;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        endOfRead();
    }

    private void endOfRead() {
        landing = false;
        if (ended) {
            finish();
        } else if (answering) {
            readOn();
        } else if (!early.isEmpty()) {
            channel.config().setAutoRead(false); // no more is held back than one read's messages
        } else if (current == null && decoder.hasBegun()) {
            close();
        }
    }

    /** Reads from the socket or stops reading, as the exchange wants; on the event loop. */
    public void readOn() {
        StoreExchange exchange = current;
        channel.config().setAutoRead(exchange == null || !answering || exchange.wantsBytes());
    }

    private void finish() {
        StoreExchange exchange = current;
        boolean again = reusable && !decoder.hasBegun() && channel.isActive();
        reset();
        // First, so that a request which follows the response finds the connection.
        if (again) {
            free();
        } else {
            close();
        }
        if (exchange != null) {
            exchange.end();
        }
    }

    private void reset() {
        BodyWriter streaming = writer;
        current = null;
        writer = null;
        sending = false;
        expecting = false;
        answering = false;
        ended = false;
        landing = false;
        if (streaming != null) {
            streaming.cancel();
        }
    }

    /** Offers the connection to the next exchange. */
    private void free() {
        channel.config().setAutoRead(true);
        idleSinceNanos = System.nanoTime();
        if (!watched) {
            watched = true;
            watch(EndpointPool.UNUSED_NANOS);
        }
        pool.release(this);
    }

    private void watch(long nanos) {
        var _ = channel.eventLoop().schedule(this::closeUnused, nanos, TimeUnit.NANOSECONDS);
    }

    private void closeUnused() {
        if (!channel.isActive()) {
            return;
        }
        long left = current == null
                ? idleSinceNanos + EndpointPool.UNUSED_NANOS - System.nanoTime()
                : EndpointPool.UNUSED_NANOS;
        if (left > 0) {
            watch(left);
        } else if (pool.withdraw(this)) {
            close();
        } else {
            watch(EndpointPool.UNUSED_NANOS); // an exchange is about to begin
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        sending = false;
        hear();
        if (ended) {
            finish();
        }
        try {
            fail(new IOException(answering
                    ? "connection closed in the middle of an answer"
                    : "connection closed before an answer"));
        } finally {
            pool.closed(this);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
    }

    /** Fails the exchange and closes the connection. Any thread. */
    void abort(Throwable cause) {
        onEventLoop(() -> fail(cause), () -> {});
    }

    /** Closes the connection if it is still this exchange's. Any thread. */
    public void abort(StoreExchange exchange, Throwable cause) {
        onEventLoop(() -> {
            if (exchange.equals(current)) {
                fail(cause);
            }
        }, () -> {});
    }

    private void fail(Throwable cause) {
        StoreExchange exchange = current;
        early.forEach(ReferenceCountUtil::release);
        early.clear();
        reset();
        close();
        if (exchange != null) {
            exchange.failed(cause);
        }
    }

    void close() {
        var _ = channel.close();
    }

    private static BackendException undecodable(Throwable cause) {
        if (cause instanceof TooLongHttpHeaderException) {
            return new BackendException(Reason.OVERSIZED, "answer has more than "
                    + (ResponseDecoder.MAX_HEADERS_BYTES >> 10) + " KiB of headers", cause);
        }
        return cause instanceof TooLongHttpLineException
                ? new BackendException(Reason.OVERSIZED, "answer has a line of more than "
                        + (ResponseDecoder.MAX_LINE_BYTES >> 10) + " KiB", cause)
                : new BackendException(Reason.MALFORMED, "answer is malformed", cause);
    }
}
