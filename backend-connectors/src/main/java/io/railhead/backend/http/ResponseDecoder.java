package io.railhead.backend.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpResponseDecoder;
import java.util.List;

/** Netty's decoder with the gateway's limits. One for each connection, on its event loop. */
final class ResponseDecoder extends HttpResponseDecoder {
    /** The longest status line, and the longest line before a chunk. */
    static final int MAX_LINE_BYTES = 8 << 10;
    /** The limit of all headers together, and of all trailers: S3's own stay below 16 KiB. */
    static final int MAX_HEADERS_BYTES = 64 << 10;
    /** The largest piece of a body that is handed on at once: more than any read from a socket. */
    private static final int PIECE_BYTES = 4 << 20;

    private boolean ofHead;
    private boolean begun;

    ResponseDecoder() {
        super(new HttpDecoderConfig().setMaxChunkSize(PIECE_BYTES)
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADERS_BYTES));
    }

    /** @param isOfHead whether the next response has no body, whatever its headers say */
    void expect(boolean isOfHead) {
        ofHead = isOfHead;
    }

    /** Returns whether bytes of an incomplete message have come. */
    boolean hasBegun() {
        return begun;
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
