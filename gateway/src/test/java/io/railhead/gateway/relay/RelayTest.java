package io.railhead.gateway.relay;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.channel.NoBackend;
import io.railhead.gateway.config.ByteCount;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** What a relay tells, and when, where a store's answer ends when the test says so. */
final class RelayTest {
    private static final byte[] DOCUMENT = "<Result/>".getBytes(US_ASCII);

    private final Vertx vertx = Vertx.vertx();
    private final Metrics metrics = new Metrics();
    private final AtomicReference<Relay.@Nullable Outcome> outcome = new AtomicReference<>();
    private final CountDownLatch answered = new CountDownLatch(1);
    private final OneAnswer store = new OneAnswer();
    private volatile CompletionStage<?> mayTell = CompletableFuture.completedStage(null);

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(30, SECONDS);
    }

    private HttpServer serve() throws Exception {
        HttpServer server = vertx.createHttpServer().requestHandler(http -> {
            HttpExchange httpExchange = new HttpExchange(http, vertx.getOrCreateContext(), metrics,
                    AccessLog.off(metrics.lostLogLines), Audit.OFF,
                    new HttpDate(InstantSource.system()), "1");
            http.response().endHandler(_ -> answered.countDown());
            new Relay(metrics).forward(httpExchange, request(), told -> {
                outcome.set(told);
                return mayTell;
            });
        });
        return server.listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .get(30,
                        SECONDS);
    }

    private S3Request request() {
        Rule rule = new Rule("store", new Freshness.Strong(), Duration.ZERO, CacheMode.READS, true,
                ByteCount.UNLIMITED, false, false, false, false);
        return new S3Request(new RequestHead("POST", "/b", null, Headers.NONE),
                Address.of("/b", null, List.of()), Query.of(Map.of()),
                new Authentication.Anonymous(), RequestSource.anonymous(null, false),
                new Route(store, new Caller.Anonymous(), "", rule, new UsageTable()));
    }

    /** A client that has the last byte goes on: it must read what it wrote. */
    @Test
    void theOutcomeIsToldBeforeTheClientHasTheLastByte() throws Exception {
        int port = serve().actualPort();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            client.setSoTimeout(30_000);
            client.getOutputStream()
                    .write("POST /b HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(US_ASCII));
            readTo(client.getInputStream(), new String(DOCUMENT, US_ASCII));
            assertThat(outcome.get()).isInstanceOf(Relay.Outcome.Answered.class);
            store.subscriber.get(30, SECONDS).onComplete();
            assertThat(answered.await(30, SECONDS)).isTrue();
        }
    }

    /** The other gateways may still serve what was before the write. */
    @Test
    void theLastByteWaitsUntilTheOutcomeMayBeTold() throws Exception {
        CompletableFuture<Void> heard = new CompletableFuture<>();
        mayTell = heard;
        int port = serve().actualPort();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            client.setSoTimeout(30_000);
            client.getOutputStream()
                    .write("POST /b HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(US_ASCII));
            store.subscriber.get(30, SECONDS).onComplete();
            TestGateway.await(() -> outcome.get() != null);
            for (int i = 0; i < 3; i++) {
                // These turns of the loop send all that the relay has passed on by now.
                CompletableFuture<Void> turn = new CompletableFuture<>();
                vertx.getOrCreateContext().runOnContext(_ -> turn.complete(null));
                turn.get(30, SECONDS);
            }
            assertThat(client.getInputStream().available()).isLessThan(DOCUMENT.length);
            assertThat(answered.getCount()).isEqualTo(1);
            heard.complete(null);
            readTo(client.getInputStream(), new String(DOCUMENT, US_ASCII));
            assertThat(answered.await(30, SECONDS)).isTrue();
        }
    }

    private static void readTo(InputStream from, String end) throws Exception {
        StringBuilder read = new StringBuilder();
        while (!read.toString().endsWith(end)) {
            int next = from.read();
            assertThat(next).as("after %s", read).isNotNegative();
            read.append((char) next);
        }
    }

    /** All of the body comes at once, its end when the test says so. */
    private static final class OneAnswer extends NoBackend {
        final CompletableFuture<Subscriber<? super ByteBuffer>> subscriber = new CompletableFuture<>();

        @Override
        public CompletionStage<BackendResponse> send(BackendRequest request) {
            Headers headers = Headers.builder()
                    .add("content-length", String.valueOf(DOCUMENT.length))
                    .build();
            return CompletableFuture.completedStage(new BackendResponse(200, headers, to -> {
                to.onSubscribe(new Subscription() {
                    @Override
                    public void request(long n) {
                        if (!subscriber.isDone()) {
                            to.onNext(ByteBuffer.wrap(DOCUMENT));
                            subscriber.complete(to);
                        }
                    }

                    @Override
                    public void cancel() {
                        // There is nothing more to come.
                    }
                });
            }));
        }
    }
}
