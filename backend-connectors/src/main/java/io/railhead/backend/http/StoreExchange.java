package io.railhead.backend.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * One request and its response. The connection calls {@link #begin} first, then the other methods
 * on its event loop, one at a time. {@link #end} or {@link #failed} is the last call. Without a
 * connection only {@link #failed} is called, on any thread.
 */
public interface StoreExchange {

    /** Returns whether nobody waits for the response any more. Any thread. */
    boolean isOver();

    /** Takes the connection; false if the request is not wanted any more, and must not be sent. */
    boolean begin(StoreConnection connection);

    HttpRequest request();

    /**
     * Returns the request's body, which is subscribed to once the store may have it; null for none.
     */
    @Nullable
    Publisher<ByteBuffer> body();

    /** Takes the head of the final response. */
    void head(HttpResponse head);

    /** Returns whether more bytes may be read from the socket now. */
    boolean wantsBytes();

    /**
     * Returns memory for the next bytes of the body, a direct buffer; null to take them by
     * {@link #content}. The memory stays valid until the call of {@link #landed} that fills it, or
     * until {@link #failed}.
     */
    @Nullable
    ByteBuffer room();

    /** Reports that the next bytes lie in the memory from {@link #room}. */
    void landed(int bytes);

    /** Takes the next bytes, which are valid during the call only. */
    void content(ByteBuf bytes);

    /** Reports the whole response. */
    void end();

    /** Reports that there will be no response, or no more of it. */
    void failed(Throwable cause);
}
