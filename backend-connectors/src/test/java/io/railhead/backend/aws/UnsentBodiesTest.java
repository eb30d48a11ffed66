package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.CREDENTIAL;
import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.beforeBody;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.testing.Bodies;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.backend.testing.Watched;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** That a body of which nothing was sent goes elsewhere, and no other body does. */
class UnsentBodiesTest {
    private static final int SMALL = 1000;
    private static final int LARGE = 3 * 1024 * 1024;

    @ParameterizedTest
    @ValueSource(ints = {SMALL, LARGE})
    void aBodyForWhichThereIsNoConnectionGoesToAnotherEndpoint(int size) throws IOException {
        assertSentElsewhere(closedEndpoint(), size);
    }

    /** All connections are taken for longer than one may take to come. */
    @Test
    void aBodyWhoseConnectionDoesNotComeIsTriedAgain() {
        CompletableFuture<Boolean> taken = new CompletableFuture<>();
        Script slow = (request, line) -> {
            taken.join();
            status(200, "").play(request, line);
        };
        Watched body = body(SMALL);
        try (ScriptedStore store = new ScriptedStore(slow);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            List<CompletionStage<BackendResponse>> others = IntStream
                    .range(0, ScriptedBackend.CONNECTIONS)
                    .mapToObj(_ -> backend.send(put(body(SMALL), SMALL)))
                    .toList();
            ScriptedBackend.await(() -> store.received().size() == others.size());
            CompletionStage<BackendResponse> waiting = backend.send(put(body, SMALL));
            ScriptedBackend.await(() -> backend.stats().retries() > 0);
            assertThat(body.subscribers()).hasValue(0);
            taken.complete(false);
            assertThat(Calls.await(waiting).status()).isEqualTo(200);
            assertThat(store.received()).hasSize(others.size() + 1);
            assertThat(body.subscribers()).hasValue(1);
        } finally {
            taken.complete(false);
        }
    }

    /** It has taken the connection, and never says that the body may come. */
    @Test
    void aBodyThatNobodyAsksForGoesToAnotherEndpoint() throws IOException {
        try (ScriptedStore silent = new ScriptedStore(
                beforeBody((request, line) -> line.awaitClosed()))) {
            assertSentElsewhere(silent.endpoint(), LARGE);
        }
    }

    private static void assertSentElsewhere(URI silentOrClosed, int size) {
        // Who keeps a body until it may be sent waits for half of this.
        ScriptedBackend.Options options = USUAL.idling(Duration.ofSeconds(5));
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                AwsBackend backend = ScriptedBackend.over(options, silentOrClosed,
                        store.endpoint())) {
            AtomicInteger sent = new AtomicInteger();
            ScriptedBackend.await(() -> {
                Watched body = body(size);
                assertThat(calls(backend).send(put(body, size)).status()).isEqualTo(200);
                assertThat(body.subscribers()).hasValue(1);
                assertThat(store.received()).hasSize(sent.incrementAndGet());
                assertThat(store.received().getLast().body()).hasSize(size);
                return backend.stats().retries() > 0;
            });
            assertThat(backend.stats().failures()).isZero();
        }
    }

    @Test
    void aBodyThatWasAskedForIsNeverSentAgain() {
        for (int size : new int[]{SMALL, LARGE}) {
            Watched body = body(size);
            try (ScriptedStore store = new ScriptedStore((request, line) -> line.reset());
                    AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> calls(backend).send(put(body, size)));
                assertThat(store.received()).hasSize(1);
                assertThat(body.subscribers()).hasValue(1);
                assertThat(backend.stats().retries()).isZero();
            }
        }
    }

    /** Nothing more is needed to act on it than its head, which may have arrived. */
    @Test
    void anEmptyBodyIsNeverSentAgain() throws IOException {
        try (AwsBackend backend = ScriptedBackend.over(USUAL, closedEndpoint())) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).send(put(body(0), 0)));
            assertThat(backend.stats().requests()).isEqualTo(1);
        }
    }

    @Test
    void aBusyStoresRefusalOfABodyIsHandedOn() {
        try (ScriptedStore store = new ScriptedStore(beforeBody(status(503, "later")),
                status(200, ""));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).send(put(body(LARGE), LARGE)).status()).isEqualTo(503);
            assertThat(backend.stats().retries()).isZero();
        }
    }

    @Test
    void theAttemptsOfABodyAreCountedToo() throws IOException {
        Watched body = body(SMALL);
        try (AwsBackend backend = ScriptedBackend.over(USUAL.attempting(3), closedEndpoint())) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).send(put(body, SMALL)));
            assertThat(backend.stats().retries()).isEqualTo(2);
            assertThat(body.subscribers()).hasValue(0);
        }
    }

    private static URI closedEndpoint() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return URI.create("http://127.0.0.1:" + socket.getLocalPort());
        }
    }

    private static Watched body(int size) {
        return new Watched(Bodies.pattern(size, 64 * 1024));
    }

    private static BackendRequest put(Watched body, int size) {
        return Requests.put(new Target("bucket", "k", null), CREDENTIAL, Headers.NONE,
                new Payload.Stream(body, size, "UNSIGNED-PAYLOAD", Map.of()));
    }
}
