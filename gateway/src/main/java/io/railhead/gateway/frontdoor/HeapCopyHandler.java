package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;

/**
 * Copies pieces of request bodies to the Java heap before Vert.x sees them; Vert.x would copy them
 * anyway. Where a connection ends while its request is paused, Vert.x does not release the pieces
 * that it keeps (5.0.10, {@code VertxConnection.pending}). Pooled memory would leak with every
 * broken upload. Event loop only.
 */
final class HeapCopyHandler extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        context.fireChannelRead(message instanceof HttpContent piece && piece.content().isReadable()
                ? copied(piece)
                : message);
    }

    private static HttpContent copied(HttpContent ownedPiece) {
        try {
            ByteBuf bytes = ownedPiece.content();
            HttpContent copy = ownedPiece
                    .replace(Unpooled.buffer(bytes.readableBytes()).writeBytes(bytes));
            copy.setDecoderResult(ownedPiece.decoderResult());
            return copy;
        } finally {
            ownedPiece.release();
        }
    }
}
