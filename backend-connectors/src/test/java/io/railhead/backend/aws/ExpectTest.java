package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.CREDENTIAL;
import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.beforeBody;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.testing.Bodies;
import io.railhead.backend.testing.Calls.Reply;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.backend.testing.Watched;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** That a large body waits for the store to want it. */
class ExpectTest {
    private static final int LARGE = 3 * 1024 * 1024;

    @Test
    void aRefusalBeforeTheBodyIsHandedOnAndTheBodyNeverAskedFor() {
        AtomicLong bodyBytes = new AtomicLong(-1);
        Script refusal = beforeBody((request, line) -> {
            line.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\n", "denied".getBytes(
                    StandardCharsets.US_ASCII));
            bodyBytes.set(line.awaitClosed());
        });
        Watched body = body(LARGE);
        try (ScriptedStore store = new ScriptedStore(refusal)) {
            try (AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
                Reply reply = calls(backend).send(put(body, LARGE));
                assertThat(reply.status()).isEqualTo(403);
                assertThat(reply.text()).isEqualTo("denied");
                assertThat(backend.stats().bytesOut()).isZero();
                assertThat(store.received()).singleElement()
                        .returns("100-continue", request -> request.header("Expect"));
            }
            ScriptedBackend.await(() -> bodyBytes.get() >= 0);
        }
        assertThat(body.requested()).hasValue(0);
        assertThat(bodyBytes).hasValue(0);
    }

    @Test
    void afterARefusalTheNextRequestGetsItsOwnAnswer() {
        try (ScriptedStore store = new ScriptedStore(beforeBody(status(403, "denied")),
                status(200, "hello"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).send(put(body(LARGE), LARGE)).status()).isEqualTo(403);
            assertThat(calls(backend).get("k").text()).isEqualTo("hello");
            assertThat(store.received().getLast().line()).startsWith("GET /bucket/k ");
        }
    }

    @Test
    void aBodyThatIsWantedIsSentOnce() {
        Watched body = body(LARGE);
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).send(put(body, LARGE)).status()).isEqualTo(200);
            assertThat(store.received().getFirst().body()).hasSize(LARGE);
            assertThat(body.subscribers()).hasValue(1);
        }
    }

    @Test
    void aSmallBodyDoesNotWait() {
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).send(put(body(1000), 1000)).status()).isEqualTo(200);
            assertThat(store.received().getFirst().header("Expect")).isNull();
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
