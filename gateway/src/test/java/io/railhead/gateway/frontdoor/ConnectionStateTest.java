package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ConnectionStateTest {
    private final List<String> closed = new ArrayList<>();
    private final Connections connections = new Connections(1, closed::add);
    private final Connections.OfLoop ofLoop = connections.new OfLoop();
    private final List<Object> idle = new ArrayList<>();
    private final EmbeddedChannel connection = new EmbeddedChannel(
            new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext context, Object event) {
                    idle.add(event);
                }
            });
    private final ConnectionState state = ofLoop.add(connection.pipeline().lastContext());

    @AfterEach
    void close() {
        connection.finishAndReleaseAll();
    }

    private void head() {
        connection.writeInbound(
                new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.PUT, "/bucket/key"));
    }

    private void endOfBody() {
        connection.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    private void respond() {
        connection.writeOutbound(
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK),
                LastHttpContent.EMPTY_LAST_CONTENT);
    }

    private boolean isTakenForIdle() {
        idle.clear();
        connection.pipeline().fireUserEventTriggered(IdleStateEvent.ALL_IDLE_STATE_EVENT);
        return !idle.isEmpty();
    }

    @Test
    void aClientThatWaitsForItsResponseIsNotIdle() {
        assertThat(isTakenForIdle()).as("before a request").isTrue();
        head();
        connection.writeInbound(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[1])));
        assertThat(isTakenForIdle()).as("in the body").isTrue();
        endOfBody();
        assertThat(isTakenForIdle()).as("after the request").isFalse();
        respond();
        assertThat(isTakenForIdle()).as("after the response").isTrue();
    }

    /** The rest of its body is discarded, and no response follows. */
    @Test
    void aClientThatHadItsResponseEarlyIsIdleAfterItsBody() {
        head();
        respond();
        endOfBody();
        assertThat(isTakenForIdle()).isTrue();
    }

    @Test
    void ofTwoRequestsEachIsWaitedFor() {
        head();
        endOfBody();
        head();
        endOfBody();
        respond();
        assertThat(state.isAnswered()).isFalse();
        assertThat(isTakenForIdle()).isFalse();
        respond();
        assertThat(state.isAnswered()).isTrue();
        assertThat(isTakenForIdle()).isTrue();
    }

    @Test
    void onlyAConnectionWithoutAnOpenRequestMakesRoom() {
        head();
        endOfBody();
        head();
        endOfBody();
        respond();
        EmbeddedChannel second = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        ofLoop.add(second.pipeline().lastContext());
        assertThat(connection.isOpen()).isTrue();
        assertThat(second.isOpen()).isFalse();
        respond();
        EmbeddedChannel third = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        ofLoop.add(third.pipeline().lastContext());
        assertThat(connection.isOpen()).isFalse();
        assertThat(closed).containsExactly("connections", "room");
        third.finishAndReleaseAll();
    }
}
