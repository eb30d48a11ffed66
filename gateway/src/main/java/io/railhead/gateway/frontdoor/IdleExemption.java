package io.railhead.gateway.frontdoor;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;

/**
 * Exempts a connection from the idle timeout while its client waits for a response and has taken
 * all that was sent. A store may be silent for minutes while it copies; the backend's own timeout
 * bounds that wait. Stands behind one connection's idle timer; event loop only.
 */
final class IdleExemption extends ChannelDuplexHandler {
    /** True from the last byte of a request to the last byte of its response. */
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
