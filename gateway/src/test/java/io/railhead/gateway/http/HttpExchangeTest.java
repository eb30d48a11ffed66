package io.railhead.gateway.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of which a step throws something unexpected. */
final class HttpExchangeTest {
    private static final String REQUEST = "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody";

    private final Vertx vertx = Vertx.vertx();
    private final Metrics metrics = new Metrics();

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(30, SECONDS);
    }

    /** Returns all that a connection hears, to the end of an error document. */
    private String answer(Consumer<HttpExchange> handler) throws Exception {
        HttpServer server = vertx.createHttpServer().requestHandler(http -> {
            http.pause();
            handler.accept(new HttpExchange(http, vertx.getOrCreateContext(), metrics,
                    AccessLog.off(metrics.lostLogLines), Audit.OFF,
                    new HttpDate(InstantSource.system()),
                    "1"));
        }).listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().get(30, SECONDS);
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.actualPort())) {
            client.setSoTimeout(30_000);
            client.getOutputStream().write(REQUEST.getBytes(US_ASCII));
            return read(client.getInputStream());
        }
    }

    private static String read(InputStream from) throws Exception {
        StringBuilder read = new StringBuilder();
        for (int next = from.read(); next >= 0; next = from.read()) {
            read.append((char) next);
            if (read.toString().endsWith("</Error>")) {
                break;
            }
        }
        return read.toString();
    }

    private static void plant() {
        throw new NoSuchFieldError("planted");
    }

    private final Map<String, Consumer<HttpExchange>> handlers = Map.of(
            "step", httpExchange -> httpExchange.executor().execute(HttpExchangeTest::plant),
            "attempt", httpExchange -> httpExchange.attempt(HttpExchangeTest::plant),
            "answered", httpExchange -> httpExchange.attempt(() -> {
                httpExchange.answer(200);
                plant();
            }),
            "elsewhere", httpExchange -> httpExchange.attemptElsewhere(HttpExchangeTest::plant),
            "piece", httpExchange -> {
                httpExchange.onBody(_ -> plant(), () -> {}, () -> {});
                httpExchange.request().resume();
            },
            "end", httpExchange -> {
                httpExchange.onBody(_ -> {}, HttpExchangeTest::plant, () -> {});
                httpExchange.request().resume();
            });

    @Timeout(60)
    @ParameterizedTest
    @ValueSource(strings = {"step", "attempt", "answered", "elsewhere", "piece", "end"})
    void theClientIsAnswered(String where) throws Exception {
        assertThat(answer(Objects.requireNonNull(handlers.get(where)))).startsWith("HTTP/1.1 500 ")
                .contains("<Code>InternalError</Code>");
        assertThat(metrics.internalErrors.labels("request").get()).isEqualTo(1);
        assertThat(metrics.errors.labels("InternalError").get()).isEqualTo(1);
        while (metrics.inFlight.get() > 0) {
            // The client may have its answer first.
            Thread.onSpinWait();
        }
    }

    @Test
    void aBodyThatHasBegunIsCut() throws Exception {
        String answer = answer(httpExchange -> {
            httpExchange.answer(200).putHeader("content-length", "10").write("some");
            httpExchange.executor().execute(HttpExchangeTest::plant);
        });
        assertThat(answer).startsWith("HTTP/1.1 200 ").endsWith("some");
        assertThat(metrics.cutBodies.labels("failed").get()).isEqualTo(1);
        assertThat(metrics.internalErrors.labels("request").get()).isEqualTo(1);
    }

    /** A listener that throws must not keep another's leases. */
    @Test
    void whatIsUnderWayIsStoppedOnceWhoeverElseThrows() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        assertThat(answer(httpExchange -> {
            httpExchange.onClosed(HttpExchangeTest::plant);
            httpExchange.onClosed(stopped::countDown);
            httpExchange.attempt(HttpExchangeTest::plant);
        })).startsWith("HTTP/1.1 500 ");
        assertThat(stopped.await(30, SECONDS)).isTrue();
    }
}
