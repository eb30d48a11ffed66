package io.railhead.gateway.frontdoor;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;
import java.util.SequencedSet;

/**
 * The state of one connection: how many of its requests Vert.x has still to answer.
 *
 * <ul> <li>A connection without such requests waits for the next one, and may be closed for room
 * ({@link Connections}). <li>The hit path must not overtake them ({@link HttpHitHandler}). <li>A
 * client that waits for a response, and has taken all that was sent, is not idle. A store may be
 * silent for minutes while it copies; the backend's own timeout bounds that wait. </ul>
 *
 * Stands before the connection's last handler, behind its idle timer. Event loop only.
 */
final class ConnectionState extends ChannelDuplexHandler {
    private final SequencedSet<Channel> waiting;
    private final Runnable onClosed;
    private int unanswered;
    /** True from the first byte of a request to its last one. */
    private boolean receiving;

    /**
     * A connection that has just been accepted.
     *
     * @param waiting the connections of the event loop that wait for a request, this one among
     *            them; the last one came last
     * @param onClosed called at the connection's end
     */
    ConnectionState(SequencedSet<Channel> waiting, Runnable onClosed) {
        this.waiting = waiting;
        this.onClosed = onClosed;
    }

    /** Returns whether Vert.x has answered all requests that it was given. */
    boolean isAnswered() {
        return unanswered == 0;
    }

    /** Notes a request that was answered without Vert.x. */
    void answered(Channel connection) {
        waiting.addLast(connection);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest) {
            unanswered++;
            receiving = true;
            waiting.remove(context.channel());
        }
        if (message instanceof LastHttpContent) {
            receiving = false;
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise written) {
        if (endsResponse(message)) {
            unanswered--;
            if (unanswered == 0) {
                waiting.addLast(context.channel());
            }
        }
        var _ = context.write(message, written);
    }

    /**
     * Returns whether a message ends a response. An interim response such as 100 Continue is whole,
     * and ends none.
     */
    private static boolean endsResponse(Object message) {
        boolean isInterim = message instanceof HttpResponse answer
                && answer.status().codeClass() == HttpStatusClass.INFORMATIONAL
                && !answer.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
        return message instanceof LastHttpContent && !isInterim;
    }

    /** Keeps an idle timeout from a client that waits for the gateway. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        boolean isExempt = event instanceof IdleStateEvent && unanswered > 0 && !receiving
                && isAllTaken(context);
        if (!isExempt) {
            context.fireUserEventTriggered(event);
        }
    }

    private static boolean isAllTaken(ChannelHandlerContext context) {
        ChannelOutboundBuffer pending = context.channel().unsafe().outboundBuffer();
        return pending == null || pending.isEmpty();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        waiting.remove(context.channel());
        onClosed.run();
        context.fireChannelInactive();
    }
}
