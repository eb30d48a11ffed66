package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who goes where there are too many, in one look at the socket that takes in more. */
final class ConnectionsTest {
    private final List<String> reasons = new ArrayList<>();
    private final List<EmbeddedChannel> all = new ArrayList<>();
    private final Connections connections = new Connections(2, reasons::add);
    private final Connections.OfLoop ofLoop = connections.new OfLoop();

    @AfterEach
    void close() {
        all.forEach(each -> each.unsafe().closeForcibly());
    }

    private EmbeddedChannel accept() {
        EmbeddedChannel channel = new EmbeddedChannel(new Patient());
        all.add(channel);
        ofLoop.add(channel.pipeline().lastContext());
        return channel;
    }

    /** The end of one that was closed is heard of only behind all that were accepted with it. */
    @Test
    void eachThatIsTooManyDrivesOutAnother() {
        EmbeddedChannel first = accept();
        EmbeddedChannel second = accept();
        EmbeddedChannel third = accept();
        accept();
        accept();
        assertThat(all).filteredOn(each -> !each.isOpen()).containsExactly(first, second, third);
        assertThat(reasons).containsExactly("room", "room", "room");
    }

    /** As Vert.x's: it closes when all has been sent, which here never comes. */
    private static final class Patient extends ChannelOutboundHandlerAdapter {

        @Override
        public void close(ChannelHandlerContext context, ChannelPromise promise) {}
    }
}
