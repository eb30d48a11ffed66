package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.SHORT;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.answer;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.testing.Calls.Reply;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is tried again, how often, and what is not. */
class RetriesTest {
    private static final Script SLOW_DOWN = answer(
            "HTTP/1.1 503 Slow Down\r\nRetry-After: 7\r\nContent-Length: 4", new byte[4]);
    private static final Script RESET = (request, line) -> line.reset();

    @Test
    void aBusyStoreIsAskedAgain() {
        try (ScriptedStore store = new ScriptedStore(SLOW_DOWN, SLOW_DOWN, SLOW_DOWN,
                status(200, "at last"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).get("k").text()).isEqualTo("at last");
            assertThat(backend.stats().requests()).isEqualTo(4);
            assertThat(backend.stats().retries()).isEqualTo(3);
            assertThat(backend.stats().failures()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 502, 503, 504})
    void theLastRefusalIsHandedOnAsReceived(int status) {
        Script refusal = answer(
                "HTTP/1.1 " + status + " No\r\nRetry-After: 7\r\nContent-Length: 4", new byte[4]);
        try (ScriptedStore store = new ScriptedStore(refusal);
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(2), store)) {
            Reply reply = calls(backend).get("k");
            assertThat(reply.status()).isEqualTo(status);
            assertThat(reply.header("Retry-After")).isEqualTo("7");
            assertThat(reply.body()).hasSize(4);
            assertThat(store.received()).hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 403, 404, 409, 412, 416, 501})
    void aDecisionIsNotQuestioned(int status) {
        try (ScriptedStore store = new ScriptedStore(status(status, "no"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).get("k").status()).isEqualTo(status);
            assertThat(store.received()).hasSize(1);
        }
    }

    @Test
    void aResetBeforeTheAnswerIsTriedAgain() {
        try (ScriptedStore store = new ScriptedStore(RESET, status(200, "hello"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).get("k").text()).isEqualTo("hello");
            assertThat(backend.stats().retries()).isEqualTo(1);
        }
    }

    @Test
    void aWriteIsNeverSentTwice() {
        try (ScriptedStore store = new ScriptedStore(RESET);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).put("k", new byte[3]));
            assertThat(store.received()).hasSize(1);
        }
        try (ScriptedStore store = new ScriptedStore(SLOW_DOWN);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).put("k", new byte[3]).status()).isEqualTo(503);
            assertThat(store.received()).hasSize(1);
            assertThat(backend.stats().retries()).isZero();
        }
    }

    @Test
    void theDeadlineEndsTheAttempts() {
        try (ScriptedStore store = new ScriptedStore(SLOW_DOWN);
                AwsBackend backend = ScriptedBackend.over(
                        USUAL.answering(SHORT).attempting(1_000_000), store)) {
            try {
                assertThat(calls(backend).get("k").status()).isEqualTo(503);
            } catch (BackendException inMidAttempt) {
                assertThat(inMidAttempt.reason()).isEqualTo(Reason.LATE);
            }
        }
    }
}
