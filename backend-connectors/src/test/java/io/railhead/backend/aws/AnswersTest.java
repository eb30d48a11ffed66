package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.SHORT;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.answer;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.testing.Bodies;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.Calls.Reply;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** What a misbehaving store can do to an answer, and that none of it looks like success. */
class AnswersTest {
    private static final byte[] FIVE = "hello".getBytes(StandardCharsets.US_ASCII);

    @Test
    void headersKeepTheirSpellingAndTheirRepetitions() {
        try (ScriptedStore store = new ScriptedStore(answer(
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx-AMZ-Meta-Odd: a\r\nX-Two: 1\r\nX-Two: 2",
                FIVE)); AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            StringBuilder seen = new StringBuilder();
            calls(backend).get("k")
                    .headers()
                    .forEach((name, value) -> seen.append(name)
                            .append('=')
                            .append(value)
                            .append(' '));
            assertThat(seen.toString()).contains("x-AMZ-Meta-Odd=a ").contains("X-Two=1 X-Two=2 ");
        }
    }

    @Test
    void aCutBodyFails() {
        Script cut = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", FIVE);
            line.close();
        };
        assertBodyFails(cut);
    }

    @Test
    void aResetBodyFails() {
        Script reset = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", FIVE);
            line.reset();
        };
        try (ScriptedStore store = new ScriptedStore(reset);
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1), store)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"));
        }
    }

    @Test
    void aCutChunkedBodyFails() {
        Script cut = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", FIVE);
            line.close();
        };
        assertBodyFails(cut);
    }

    @ParameterizedTest
    @ValueSource(strings = {"100 Continue", "102 Processing", "103 Early Hints"})
    void interimAnswersAreNotTheAnswer(String interim) {
        Script late = (request, line) -> {
            for (int i = 0; i < 3; i++) {
                line.write("HTTP/1.1 " + interim + "\r\n\r\n", new byte[0]);
                LockSupport.parkNanos(20_000_000); // so that each comes by itself
            }
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", FIVE);
        };
        try (ScriptedStore store = new ScriptedStore(late);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            for (int i = 0; i < 3; i++) {
                assertThat(calls(backend).get("k").body()).isEqualTo(FIVE);
            }
            assertThat(store.received()).hasSize(3);
        }
    }

    private static void assertBodyFails(Script script) {
        try (ScriptedStore store = new ScriptedStore(script);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            BackendResponse response = Calls.await(backend.send(Requests
                    .get(calls(backend).target("k", null), ScriptedBackend.CREDENTIAL,
                            Headers.NONE)));
            assertThat(response.status()).isEqualTo(200);
            BackendException failure = catchThrowableOfType(BackendException.class,
                    () -> Calls.await(BodyDrain.collect(response.body(), 100)));
            assertThat(failure.reason()).isIn(Reason.BROKEN, Reason.MALFORMED);
            assertThat(backend.stats().failures()).isEqualTo(1);
            assertThat(store.received()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"})
    void bytesPastTheEndNeverBecomeTheNextAnswer(String extra) {
        Script tooMuch = answer("HTTP/1.1 200 OK\r\nContent-Length: 5",
                ("hello" + extra).getBytes(StandardCharsets.US_ASCII));
        try (ScriptedStore store = new ScriptedStore(tooMuch, status(200, "right"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).get("k").text()).isEqualTo("hello");
            assertThat(calls(backend).get("k").text()).isEqualTo("right");
        }
    }

    @Test
    void anAnswerThatDoesNotSayHowLongItIsFails() {
        Script endless = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\n\r\n", FIVE);
            line.close();
        };
        try (ScriptedStore store = new ScriptedStore(endless);
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1), store)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"));
        }
    }

    @Test
    void anAnswerThatIsNotHttpFails() {
        Script garbage = (request, line) -> line.write("SMTP ready\r\n\r\n", FIVE);
        try (ScriptedStore store = new ScriptedStore(garbage);
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1), store)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"));
        }
    }

    @Test
    void headersOfTensOfKibibytesAreTaken() {
        Script wordy = answer("HTTP/1.1 200 OK\r\nContent-Length: 5" + metadata(100), FIVE);
        try (ScriptedStore store = new ScriptedStore(wordy);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).get("k").headers().get("x-amz-meta-99"))
                    .isEqualTo("m".repeat(500));
            assertThat(calls(backend).head("k").status()).isEqualTo(200);
        }
    }

    @Test
    void moreHeadersAreAnErrorOfTheirOwnThatNobodyIsBlamedFor() {
        Script endless = answer("HTTP/1.1 200 OK\r\nContent-Length: 5" + metadata(200), FIVE);
        assertOversized(endless, "more than 64 KiB of headers");
    }

    @Test
    void soIsALongerStatusLine() {
        Script endless = answer("HTTP/1.1 200 " + "O".repeat(9000) + "\r\nContent-Length: 5", FIVE);
        assertOversized(endless, "a line of more than 8 KiB");
    }

    private static void assertOversized(Script script, String why) {
        try (ScriptedStore store = new ScriptedStore(script);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            for (int i = 0; i < 5; i++) {
                String key = "k" + i;
                BackendException failure = catchThrowableOfType(BackendException.class,
                        () -> calls(backend).get(key));
                assertThat(failure.reason()).isEqualTo(Reason.OVERSIZED);
                assertThat(failure).hasMessageContaining(why);
            }
            assertThat(store.received()).hasSize(5);
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
        }
    }

    private static String metadata(int headers) {
        return IntStream.range(0, headers)
                .mapToObj(i -> "\r\nx-amz-meta-" + i + ": " + "m".repeat(500))
                .collect(Collectors.joining());
    }

    @Test
    void aStalledBodyFailsAsATimeout() {
        Script stall = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", FIVE);
            line.awaitClosed();
        };
        try (ScriptedStore store = new ScriptedStore(stall);
                AwsBackend backend = ScriptedBackend.over(USUAL.idling(SHORT), store)) {
            BackendException failure = catchThrowableOfType(BackendException.class,
                    () -> calls(backend).get("k"));
            assertThat(failure.reason()).isEqualTo(Reason.LATE);
            ScriptedBackend.await(() -> store.openConnections() == 0);
        }
    }

    @Test
    void aSlowReaderIsNotTheStoresFault() {
        try (ScriptedStore store = new ScriptedStore(status(200, "patience"));
                AwsBackend backend = ScriptedBackend.over(USUAL.idling(SHORT), store)) {
            BackendResponse response = Calls.await(backend.send(Requests
                    .get(calls(backend).target("k", null), ScriptedBackend.CREDENTIAL,
                            Headers.NONE)));
            Late reader = new Late();
            response.body().subscribe(reader);
            assertThat(Calls.await(reader.length)).isEqualTo(8);
        }
    }

    @Test
    void aSilentStoreFailsAsATimeout() {
        try (ScriptedStore store = new ScriptedStore((request, line) -> line.awaitClosed());
                AwsBackend backend = ScriptedBackend.over(USUAL.answering(SHORT), store)) {
            BackendException failure = catchThrowableOfType(BackendException.class,
                    () -> calls(backend).get("k"));
            assertThat(failure.reason()).isEqualTo(Reason.LATE);
            ScriptedBackend.await(() -> store.openConnections() == 0);
        }
    }

    @Test
    void aStoreThatTakesABodyAndSaysNothingFailsAsATimeout() {
        try (ScriptedStore store = new ScriptedStore((request, line) -> line.awaitClosed());
                AwsBackend backend = ScriptedBackend.over(USUAL.answering(SHORT), store)) {
            BackendException failure = catchThrowableOfType(BackendException.class,
                    () -> calls(backend).send(Requests.put(calls(backend).target("k", null),
                            ScriptedBackend.CREDENTIAL, Headers.NONE, new Payload.Stream(
                                    Bodies.of(FIVE, 2), 5, "UNSIGNED-PAYLOAD", Map.of()))));
            assertThat(failure.reason()).isEqualTo(Reason.LATE);
            assertThat(store.received().getFirst().body()).isEqualTo(FIVE);
        }
    }

    @Test
    void answersWithoutABodyLeaveTheConnectionFree() {
        try (ScriptedStore store = new ScriptedStore(
                answer("HTTP/1.1 200 OK\r\nContent-Length: 999", new byte[0]),
                answer("HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\nETag: \"e\"",
                        new byte[0]),
                answer("HTTP/1.1 204 No Content", new byte[0]), status(200, ""),
                status(200, "hello"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).head("k").header("Content-Length")).isEqualTo("999");
            Reply unchanged = calls(backend).get("k");
            assertThat(unchanged.status()).isEqualTo(304);
            assertThat(unchanged.header("ETag")).isEqualTo("\"e\"");
            assertThat(calls(backend).call("DELETE", "k", null, Headers.NONE, "").status())
                    .isEqualTo(204);
            assertThat(calls(backend).get("k").body()).isEmpty();
            assertThat(calls(backend).get("k").body()).isEqualTo(FIVE);
            assertThat(store.connections()).isLessThan(5);
        }
    }

    @Test
    void cancellingABodyClosesItsConnection() {
        Script endless = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", FIVE);
            line.awaitClosed();
        };
        try (ScriptedStore store = new ScriptedStore(endless);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            BackendResponse response = Calls.await(backend.send(Requests
                    .get(calls(backend).target("k", null), ScriptedBackend.CREDENTIAL,
                            Headers.NONE)));
            response.body().subscribe(new Late() {
                @Override
                public void onSubscribe(Subscription subscription) {
                    subscription.cancel();
                }
            });
            ScriptedBackend.await(() -> store.openConnections() == 0);
        }
    }

    @Test
    void aBodyIsReadOnce() {
        try (ScriptedStore store = new ScriptedStore(status(200, "hello"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            BackendResponse response = Calls.await(backend.send(Requests
                    .get(calls(backend).target("k", null), ScriptedBackend.CREDENTIAL,
                            Headers.NONE)));
            assertThat(Calls.await(BodyDrain.collect(response.body(), 10))).isEqualTo(FIVE);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(
                    () -> Calls.await(BodyDrain.collect(response.body(), 10)));
        }
    }

    @Test
    void anUnreadableRequestNeverLeaves() {
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).call("GET", "k", "prefix=%FF", Headers.NONE,
                            ""));
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).call("BREW", "k", null, Headers.NONE, ""));
            assertThat(store.received()).isEmpty();
        }
    }

    /** Asks for its bytes only after several idle timeouts. */
    private static class Late implements Subscriber<ByteBuffer> {
        private static final Executor LATER = CompletableFuture
                .delayedExecutor(3 * SHORT.toMillis(), TimeUnit.MILLISECONDS);
        final CompletableFuture<Long> length = new CompletableFuture<>();
        private long received;

        @Override
        public void onSubscribe(Subscription subscription) {
            LATER.execute(() -> subscription.request(Long.MAX_VALUE));
        }

        @Override
        public void onNext(ByteBuffer buffer) {
            received += buffer.remaining();
        }

        @Override
        public void onError(Throwable cause) {
            length.completeExceptionally(cause);
        }

        @Override
        public void onComplete() {
            length.complete(received);
        }
    }
}
