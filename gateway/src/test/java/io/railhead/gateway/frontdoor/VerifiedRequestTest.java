package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class VerifiedRequestTest {
    private static final int SECONDS = 30;

    private final List<HttpHeaders> decoded = new ArrayList<>();
    private final List<Boolean> found = new ArrayList<>();

    /** Vert.x keeps the very fields that were decoded: nothing else says whose a verdict is. */
    @Test
    void itIsOfTheRequestThatWasDecodedAndOfNoOther() throws Exception {
        Vertx vertx = Vertx.vertx();
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpServer server = vertx
                    .createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
                    .connectionHandler(this::listen)
                    .requestHandler(request -> {
                        decoded.forEach(fields -> found
                                .add(new VerifiedRequest(fields, null, null).isOf(request)));
                        request.response().end();
                    })
                    .listen(0, "127.0.0.1")
                    .await(SECONDS, TimeUnit.SECONDS);
            java.net.http.HttpRequest get = java.net.http.HttpRequest
                    .newBuilder(URI.create("http://127.0.0.1:" + server.actualPort()))
                    .version(HttpClient.Version.HTTP_1_1)
                    .build();
            client.send(get, HttpResponse.BodyHandlers.discarding());
            client.send(get, HttpResponse.BodyHandlers.discarding());
        } finally {
            vertx.close().await(SECONDS, TimeUnit.SECONDS);
        }
        assertThat(found).as("the first; then the first's and the second's of the second")
                .containsExactly(true, false, true);
    }

    private void listen(HttpConnection connection) {
        ChannelPipeline pipeline = ((HttpServerConnection) connection).channelHandlerContext()
                .pipeline();
        pipeline.addAfter(pipeline.context(HttpRequestDecoder.class).name(), null,
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        if (message instanceof HttpRequest request) {
                            decoded.add(request.headers());
                        }
                        context.fireChannelRead(message);
                    }
                });
    }
}
