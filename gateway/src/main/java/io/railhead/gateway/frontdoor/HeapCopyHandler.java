package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;

/**
 * Gives Vert.x pieces of bodies as memory of the heap, which it would copy them into anyway. What
 * it keeps for a request that is paused it does not release where the connection ends meanwhile
 * (5.0.10, {@code VertxConnection.pending}): memory of the pool would be lost for good, some with
 * each upload that breaks off. Event loop only.
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
