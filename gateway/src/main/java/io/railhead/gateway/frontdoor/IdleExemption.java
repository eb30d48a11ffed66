package io.railhead.gateway.frontdoor;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;

/**
 * Keeps a connection on which nothing moves because its client has said all and waits for us: a
 * store that copies says nothing for minutes, and how long it may is the backend's to bound. A
 * client that does not take what it was sent is idle. Stands behind one connection's idle timer;
 * its event loop only.
 */
final class IdleExemption extends ChannelDuplexHandler {
    /** From a request's last byte to its answer's. */
    private boolean isAwaited;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof LastHttpContent) {
            isAwaited = true;
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise written) {
        if (AnswerEnd.is(message)) {
            isAwaited = false;
        }
        var _ = context.write(message, written);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        boolean ours = event instanceof IdleStateEvent && isAwaited && isAllTaken(context);
        if (!ours) {
            context.fireUserEventTriggered(event);
        }
    }

    private static boolean isAllTaken(ChannelHandlerContext context) {
        ChannelOutboundBuffer pending = context.channel().unsafe().outboundBuffer();
        return pending == null || pending.isEmpty();
    }
}
