package io.railhead.backend.http;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.railhead.backend.BackendException;
import io.railhead.backend.FixedBody;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

@SuppressWarnings("StringConcatToTextBlock") // its lines end in CR LF
class StoreConnectionTest {
    private static final URI STORE = URI.create("http://store");

    private final List<String> answers = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final EndpointPool pool = new EndpointPool(STORE, 1, this::open);
    private final EmbeddedChannel channel = new EmbeddedChannel();

    private void open(URI endpoint, EndpointPool asking, StoreExchange exchange) {
        if (!channel.isActive() || channel.pipeline().get(ResponseDecoder.class) != null) {
            asking.refused(exchange, new IllegalStateException("one connection only"));
            return;
        }
        ResponseDecoder decoder = new ResponseDecoder();
        StoreConnection connection = new StoreConnection(asking, channel, decoder);
        channel.config().setRecvByteBufAllocator(new ReceiveBuffers(connection));
        channel.pipeline().addLast(decoder, new HttpRequestEncoder(), connection);
        asking.opened(connection, exchange);
    }

    @AfterEach
    void releaseAll() {
        channel.finishAndReleaseAll();
    }

    private Exchange send(HttpMethod method) {
        Exchange exchange = new Exchange(request(method));
        pool.acquire(exchange);
        return exchange;
    }

    private void receive(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
        channel.runPendingTasks();
    }

    private static HttpRequest request(HttpMethod method) {
        return new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, "/b/k");
    }

    /**
     * A connection that is given back is the next one's at once, who asks before the rest is read.
     */
    @ParameterizedTest
    @ValueSource(strings = {
            "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nno",
            "HTTP/1.1 206 Partial Content\r\n", "H"})
    void bytesBehindAResponseCloseItsConnection(String more) {
        send(HttpMethod.GET);
        Exchange next = send(HttpMethod.GET);
        receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" + more);
        assertThat(answers).containsExactly("200 hi");
        assertThat(channel.isOpen()).isFalse();
        assertThat(next.begun).isZero();
    }

    @Test
    void unaskedBytesCloseAnIdleConnection() {
        send(HttpMethod.GET);
        receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
        assertThat(answers).containsExactly("200 hi");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void exchangesFollowOneAnotherOnOneConnection() {
        send(HttpMethod.GET);
        send(HttpMethod.GET);
        receive("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 O");
        receive("K\r\nContent-Length: 2\r\n\r\nh");
        receive("i");
        receive("HTTP/1.1 206 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ny");
        receive("es\r\n0\r\n\r\n");
        assertThat(answers).containsExactly("200 hi", "206 yes");
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void anExpectedContinueSendsTheBodyOnce() {
        Exchange exchange = new Exchange(request(HttpMethod.PUT));
        HttpUtil.set100ContinueExpected(exchange.request, true);
        HttpUtil.setContentLength(exchange.request, 5);
        exchange.body = new FixedBody(ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)));
        pool.acquire(exchange);
        receive("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
        assertThat(sent()).doesNotContain("hello");
        receive("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                + "HTTP/1.1 102 Processing\r\n\r\n");
        assertThat(sent()).isEqualTo("hello");
        receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        assertThat(answers).containsExactly("200 ");
    }

    private String sent() {
        StringBuilder all = new StringBuilder();
        for (ByteBuf each = channel.readOutbound(); each != null; each = channel.readOutbound()) {
            all.append(each.toString(StandardCharsets.ISO_8859_1));
            each.release();
        }
        return all.toString();
    }

    @Test
    void theResponseToAHeadHasNoBody() {
        send(HttpMethod.HEAD);
        send(HttpMethod.GET);
        receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        receive("HTTP/1.1 206 OK\r\nContent-Length: 2\r\n\r\nhi");
        assertThat(answers).containsExactly("200 ", "206 hi");
    }

    /** A store may have done a request that needs no body before the body has come. */
    @Test
    void aSuccessIsDeliveredAfterTheRequestsEnd() {
        Exchange exchange = new Exchange(request(HttpMethod.DELETE));
        Endless body = new Endless();
        exchange.body = body;
        pool.acquire(exchange);
        receive("HTTP/1.1 204 No Content\r\n\r\n");
        assertThat(answers).isEmpty();
        requireNonNull(body.subscriber).onComplete();
        channel.runPendingTasks();
        assertThat(answers).containsExactly("204 ");
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void aRefusalIsDeliveredBeforeTheRequestsEndAndClosesTheConnection() {
        Exchange exchange = new Exchange(request(HttpMethod.PUT));
        Endless body = new Endless();
        exchange.body = body;
        pool.acquire(exchange);
        receive("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
        assertThat(answers).containsExactly("403 ");
        assertThat(body.cancelled).isTrue();
        assertThat(channel.isOpen()).isFalse();
    }

    /** The rest of the body would be taken for the next request. */
    @Test
    void aSuccessInTheMiddleOfAnUploadClosesTheConnectionToo() {
        Exchange exchange = new Exchange(request(HttpMethod.PUT));
        exchange.body = new Endless();
        pool.acquire(exchange);
        receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        assertThat(answers).containsExactly("200 ");
        assertThat(channel.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {
            // Read with 32 bits its first chunk would have 5 bytes.
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000005\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi",
            "SSH-2.0-OpenSSH_9.2\r\n"})
    void malformedResponsesFailAndCloseTheConnection(String response) {
        send(HttpMethod.GET);
        receive(response);
        assertThat(answers).isEmpty();
        assertThat(failures).singleElement().isInstanceOf(BackendException.class);
        assertThat(channel.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"})
    void aResponseThatIsCutOffFails(String part) {
        send(HttpMethod.GET);
        receive(part);
        var _ = channel.close();
        assertThat(answers).isEmpty();
        assertThat(failures).hasSize(1);
    }

    /** The kernel would otherwise write the next response's bytes into a page. */
    @Test
    void noMoreRoomIsGivenThanTheBodyHasLeft() {
        Exchange exchange = new Exchange(request(HttpMethod.GET));
        exchange.room = ByteBuffer.allocateDirect(100);
        pool.acquire(exchange);
        StoreConnection connection = channel.pipeline().get(StoreConnection.class);
        assertThat(connection.room()).isNull();
        receive("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n" + "x".repeat(20));
        assertThat(connection.room()).extracting(ByteBuffer::remaining).isEqualTo(40);
        receive("y".repeat(40));
        assertThat(connection.room()).isNull();
        assertThat(answers).containsExactly("200 " + "x".repeat(20) + "[40]");
    }

    /** A read of the body's last bytes has no room for others, which would be the next response. */
    @Test
    void aBodyThatLandedIsLookedBehind() {
        Exchange exchange = new Exchange(request(HttpMethod.GET));
        exchange.room = ByteBuffer.allocateDirect(100);
        pool.acquire(exchange);
        StoreConnection connection = channel.pipeline().get(StoreConnection.class);
        receive("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n" + "x".repeat(20));
        assertThat(connection.room()).isNotNull();
        assertThat(connection.mustLookBehind()).isFalse();
        var _ = channel
                .writeOneInbound(Unpooled.copiedBuffer("y".repeat(40), StandardCharsets.US_ASCII));
        assertThat(connection.mustLookBehind()).isTrue();
        assertThat(connection.room()).isNull();
        assertThat(connection.mustLookBehind()).isFalse();
        channel.flushInbound();
        assertThat(answers).hasSize(1);
    }

    @Test
    void aConnectionThatClosedBeforeItWasKnownTakesNoPlace() {
        List<StoreExchange> opening = new ArrayList<>();
        EndpointPool one = new EndpointPool(STORE, 1, (_, _, exchange) -> opening.add(exchange));
        Exchange exchange = new Exchange(request(HttpMethod.GET));
        one.acquire(exchange);
        EmbeddedChannel dead = new EmbeddedChannel();
        StoreConnection connection = new StoreConnection(one, dead, new ResponseDecoder());
        dead.pipeline().addLast(connection);
        var _ = dead.close();
        one.opened(connection, exchange);
        assertThat(opening).containsExactly(exchange, exchange);
    }

    @Test
    void noMoreIsHeldBackThanHasBeenRead() {
        Exchange exchange = new Exchange(request(HttpMethod.DELETE));
        Endless body = new Endless();
        exchange.body = body;
        pool.acquire(exchange);
        receive("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789");
        assertThat(channel.config().isAutoRead()).isFalse();
        requireNonNull(body.subscriber).onComplete();
        channel.runPendingTasks();
        assertThat(channel.config().isAutoRead()).isTrue();
        receive("abcdefghij");
        assertThat(answers).containsExactly("200 0123456789abcdefghij");
    }

    @Test
    void unaskedBytesOfAnUnfinishedMessageCloseAnIdleConnection() {
        send(HttpMethod.GET);
        receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        receive("HTTP/1.1 200 OK\r\nX:");
        assertThat(channel.isOpen()).isFalse();
    }

    /** One request, whose whole response becomes one text. */
    private final class Exchange implements StoreExchange {
        private final HttpRequest request;
        private @Nullable Publisher<ByteBuffer> body;
        private @Nullable ByteBuffer room;
        private String answer = "";
        private int begun;

        Exchange(HttpRequest request) {
            this.request = request;
        }

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public boolean begin(StoreConnection connection) {
            begun++;
            return true;
        }

        @Override
        public HttpRequest request() {
            return request;
        }

        @Override
        public @Nullable Publisher<ByteBuffer> body() {
            return body;
        }

        @Override
        public void head(HttpResponse head) {
            answer = head.status().code() + " ";
        }

        @Override
        public boolean wantsBytes() {
            return true;
        }

        @Override
        public @Nullable ByteBuffer room() {
            return room;
        }

        @Override
        public void landed(int bytes) {
            answer += "[" + bytes + "]";
        }

        @Override
        public void content(ByteBuf bytes) {
            answer += bytes.toString(StandardCharsets.ISO_8859_1);
        }

        @Override
        public void end() {
            answers.add(answer);
        }

        @Override
        public void failed(Throwable cause) {
            failures.add(cause);
        }
    }

    /** A body that ends when the test ends it. */
    private static final class Endless implements Publisher<ByteBuffer>, Subscription {
        private @Nullable Subscriber<? super ByteBuffer> subscriber;
        private boolean cancelled;

        @Override
        public void subscribe(Subscriber<? super ByteBuffer> to) {
            subscriber = to;
            to.onSubscribe(this);
        }

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            cancelled = true;
        }
    }
}
