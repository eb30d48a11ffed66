package io.railhead.backend.aws;

import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.railhead.backend.testing.ScriptedStore;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AnswerGuardTest {
    /** As it is where a machine has one core: who waits for the connection is on its loop. */
    @Test
    void whoSendsTheMomentAConnectionStandsGetsItsAnswer() throws Exception {
        CompletableFuture<Integer> answered = new CompletableFuture<>();
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1,
                        NioIoHandler.newFactory())) {
            Bootstrap bootstrap = new Bootstrap().group(loop)
                    .channelFactory(AnswerGuard::guardedChannel)
                    .handler(new Answers(answered))
                    .remoteAddress(store.endpoint().getHost(), store.endpoint().getPort());
            loop.execute(() -> {
                var _ = bootstrap.connect().addListener(connected -> {
                    var _ = ((ChannelFuture) connected).channel()
                            .writeAndFlush(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1,
                                    HttpMethod.GET, "/b/k"));
                });
            });

            assertThat(answered.get(30, TimeUnit.SECONDS)).isEqualTo(200);
        }
    }

    private static final class Answers extends ChannelInitializer<NioSocketChannel> {
        private final CompletableFuture<Integer> answered;

        Answers(CompletableFuture<Integer> answered) {
            this.answered = answered;
        }

        @Override
        protected void initChannel(NioSocketChannel channel) {
            channel.pipeline()
                    .addLast(new HttpClientCodec(),
                            new SimpleChannelInboundHandler<HttpObject>() {
                                @Override
                                protected void channelRead0(ChannelHandlerContext ctx,
                                        HttpObject message) {
                                    if (message instanceof HttpResponse head) {
                                        answered.complete(head.status().code());
                                    }
                                }

                                @Override
                                public void channelInactive(ChannelHandlerContext ctx) {
                                    answered.completeExceptionally(
                                            new IOException("closed without an answer"));
                                }
                            });
        }
    }
}
