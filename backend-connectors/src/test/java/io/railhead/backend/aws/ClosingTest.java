package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What is left when a backend is closed: nothing. */
class ClosingTest {

    @Test
    void noThreadAndNoConnectionStays() {
        try (ScriptedStore store = new ScriptedStore(status(200, "hello"))) {
            try (AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
                calls(backend).get("k");
                assertThat(loops()).isPositive();
            }
            ScriptedBackend.await(() -> loops() == 0);
            ScriptedBackend.await(() -> store.openConnections() == 0);
        }
    }

    private static long loops() {
        return Thread.getAllStackTraces()
                .keySet()
                .stream()
                .filter(thread -> thread.getName().startsWith("backend-scripted-"))
                .count();
    }

    @Test
    void whoWaitsForAnAnswerIsTold() {
        try (ScriptedStore store = new ScriptedStore((request, line) -> line.awaitClosed())) {
            AwsBackend backend = ScriptedBackend.over(USUAL, store);
            CompletionStage<BackendResponse> waiting = backend.send(Requests.get(
                    calls(backend).target("k", null), ScriptedBackend.CREDENTIAL, Headers.NONE));
            ScriptedBackend.await(() -> !store.received().isEmpty());
            backend.close();
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> Calls.await(waiting));
        }
    }

    @Test
    void whoWaitsForABodyIsTold() {
        try (ScriptedStore store = new ScriptedStore((request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", new byte[5]);
            line.awaitClosed();
        })) {
            AwsBackend backend = ScriptedBackend.over(USUAL, store);
            CompletionStage<byte[]> body = BodyDrain.collect(
                    Calls.await(backend.send(Requests.get(calls(backend).target("k", null),
                            ScriptedBackend.CREDENTIAL, Headers.NONE))).body(),
                    100);
            backend.close();
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> Calls.await(body));
        }
    }

    @Test
    void aClosedBackendRefusesAndClosesAgain() {
        try (ScriptedStore store = new ScriptedStore(status(200, "hello"))) {
            AwsBackend backend = ScriptedBackend.over(USUAL, store);
            backend.close();
            backend.close();
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"));
            assertThat(store.received()).isEmpty();
        }
    }
}
