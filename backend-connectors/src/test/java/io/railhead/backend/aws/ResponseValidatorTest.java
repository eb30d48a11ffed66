package io.railhead.backend.aws;

import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.logging.LoggingHandler;
import io.railhead.backend.BackendException;
import io.railhead.backend.testing.ScriptedStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("StringConcatToTextBlock") // its lines end in CR LF
class ResponseValidatorTest {
    /** As it is where a machine has one core: who waits for the connection is on its loop. */
    @Test
    void whoSendsTheMomentAConnectionStandsGetsItsAnswer() throws Exception {
        CompletableFuture<Integer> answered = new CompletableFuture<>();
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1,
                        NioIoHandler.newFactory())) {
            Bootstrap bootstrap = new Bootstrap().group(loop)
                    .channelFactory(ResponseValidator::guardedChannel)
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

    private final List<String> answers = new ArrayList<>();
    private final ResponseValidator guard = new ResponseValidator();
    private final EmbeddedChannel channel = new EmbeddedChannel(guard.codec(), guard,
            new Asking(answers));

    /**
     * A connection that is given back is the next one's at once, who asks before the rest is read.
     */
    @ParameterizedTest
    @ValueSource(strings = {
            "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nno",
            "HTTP/1.1 206 Partial Content\r\n", "H"})
    void whatFollowsAnAnswerIsNotTheNextOnes(String more) {
        channel.writeOutbound(get("/first"));
        channel.writeInbound(bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" + more));
        assertThat(answers).containsExactly("200 hi");
        assertThat(channel.isOpen()).isFalse();
        channel.finishAndReleaseAll();
    }

    @Test
    void oneAfterTheOtherEachGetsItsAnswer() {
        channel.writeOutbound(get("/first"));
        channel.writeInbound(bytes("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 O"));
        channel.writeInbound(bytes("K\r\nContent-Length: 2\r\n\r\nh"));
        channel.writeInbound(bytes("i"));
        channel.writeInbound(bytes("HTTP/1.1 206 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ny"));
        channel.writeInbound(bytes("es\r\n0\r\n\r\n"));
        assertThat(answers).containsExactly("200 hi", "206 yes");
        assertThat(channel.isOpen()).isTrue();
        channel.finishAndReleaseAll();
    }

    @Test
    void anInterimAnswerIsHeardOnlyByWhoWaitsForIt() {
        HttpRequest request = get("/first");
        HttpUtil.set100ContinueExpected(request, true);
        channel.writeOutbound(request);
        channel.writeInbound(bytes("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"));
        assertThat(answers).isEmpty();
        channel.writeInbound(bytes("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                + "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        assertThat(answers).containsExactly("100 ", "200 ");
        channel.finishAndReleaseAll();
    }

    @Test
    void theAnswerToAHeadHasNoBody() {
        channel.writeOutbound(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.HEAD,
                "/first"));
        channel.writeInbound(bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"));
        channel.writeInbound(bytes("HTTP/1.1 206 OK\r\nContent-Length: 2\r\n\r\nhi"));
        assertThat(answers).containsExactly("200 ", "206 hi");
        channel.finishAndReleaseAll();
    }

    /** What needs no body a store may have done before it has come. */
    @Test
    void aSuccessIsHeardWhenAllHasBeenSent() {
        channel.writeOutbound(
                new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.DELETE, "/first"));
        channel.writeInbound(bytes("HTTP/1.1 204 No Content\r\n\r\n"));
        assertThat(answers).isEmpty();
        channel.writeOutbound(LastHttpContent.EMPTY_LAST_CONTENT);
        channel.runPendingTasks();
        assertThat(answers).containsExactly("204 ");
        assertThat(channel.isOpen()).isTrue();
        channel.finishAndReleaseAll();
    }

    @Test
    void aRefusalIsHeardBeforeAllHasBeenSent() {
        channel.writeOutbound(
                new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.PUT, "/first"));
        channel.writeInbound(bytes("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"));
        assertThat(answers).containsExactly("403 ");
        channel.finishAndReleaseAll();
    }

    /** Read with 32 bits its first chunk would have 5 bytes. */
    @Test
    void aChunkLongerThanAnyNumberIsNoAnswer() {
        channel.writeOutbound(get("/first"));
        assertThatThrownBy(() -> channel.writeInbound(bytes("HTTP/1.1 200 OK\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n100000005\r\nhello\r\n0\r\n\r\n")))
                .isInstanceOf(BackendException.class)
                .hasMessageContaining("malformed");
        assertThat(answers).isEmpty();
        assertThat(channel.isOpen()).isFalse();
        channel.finishAndReleaseAll();
    }

    @Test
    void anotherProtocolIsNoAnswer() {
        channel.writeOutbound(get("/first"));
        assertThatThrownBy(() -> channel
                .writeInbound(bytes("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")))
                .isInstanceOf(BackendException.class)
                .hasMessageContaining("another protocol");
        assertThat(answers).isEmpty();
        assertThat(channel.isOpen()).isFalse();
        channel.finishAndReleaseAll();
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }

    private static HttpRequest get(String path) {
        return new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
    }

    /** Asks again as soon as an answer has ended, where the connection still stands. */
    private static final class Asking extends SimpleChannelInboundHandler<HttpObject> {
        private final List<String> answers;
        private String answer = "";

        Asking(List<String> answers) {
            this.answers = answers;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
            if (message instanceof HttpResponse head) {
                answer = head.status().code() + " ";
            }
            if (message instanceof HttpContent content) {
                answer += content.content().toString(StandardCharsets.ISO_8859_1);
            }
            if (message instanceof LastHttpContent) {
                answers.add(answer);
                if (ctx.channel().isActive() && !answer.startsWith("1")) {
                    var _ = ctx.writeAndFlush(get("/next"));
                }
            }
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
                            }, new LoggingHandler());
        }
    }
}
