package io.railhead.gateway.delivery;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.railhead.cache.FillException;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.http.HttpExchange;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An object's bytes as an HTTP body. Each write references page memory, and the page's lease ends
 * when that write has reached the socket or failed. Event loop only.
 */
public final class HttpDelivery implements RangeReader.Sink {
    private final HttpExchange httpExchange;
    private final Supplier<HttpServerResponse> head;
    private final Broken broken;
    private long remaining;
    private @Nullable HttpServerResponse response;

    /** The reaction to a cache that can give no more bytes. */
    @FunctionalInterface
    public interface Broken {

        /**
         * @param atOffset the offset of the first byte that was not delivered
         * @param response the response that has begun; null if its head is not written
         */
        void at(FillException cause, long atOffset, @Nullable HttpServerResponse response);
    }

    /**
     * A body of {@code length} bytes.
     *
     * @param head writes the head when the first bytes are available
     */
    public HttpDelivery(HttpExchange httpExchange, long length, Supplier<HttpServerResponse> head,
            Broken broken) {
        this.httpExchange = httpExchange;
        this.remaining = length;
        this.head = head;
        this.broken = broken;
    }

    @Override
    public void slice(PageSlice ownedSlice) {
        if (httpExchange.isOver()) {
            ownedSlice.close();
            return;
        }
        Future<Void> written;
        try {
            written = write(ownedSlice);
        } catch (RuntimeException | Error e) {
            // A head that cannot be written must not keep the page leased.
            ownedSlice.close();
            throw e;
        }
        written.onComplete(ignored -> ownedSlice.close());
    }

    private Future<Void> write(PageSlice slice) {
        HttpServerResponse to = response;
        if (to == null) {
            to = head.get();
            response = to;
        }
        remaining -= slice.length();
        BufferInternal bytes = BufferInternal.buffer(wrap(slice.buffers()));
        return remaining == 0 ? httpExchange.endWith(bytes) : to.write(bytes);
    }

    private static ByteBuf wrap(List<ByteBuffer> buffers) {
        return buffers.size() == 1
                ? Unpooled.wrappedBuffer(buffers.getFirst())
                : Unpooled.wrappedBuffer(buffers.size(), buffers.toArray(ByteBuffer[]::new));
    }

    @Override
    public void end() {
        if (response == null) {
            head.get().end();
        }
    }

    @Override
    public void failed(FillException cause, long atOffset) {
        if (!httpExchange.isOver()) {
            broken.at(cause, atOffset, response);
        }
    }
}
