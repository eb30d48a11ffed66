package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.railhead.backend.BackendException;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.net.URI;
import javax.net.ServerSocketFactory;
import org.junit.jupiter.api.Test;

/** One store behind several addresses, some of them out of order. */
class EndpointsTest {

    @Test
    void theEndpointsShareTheWork() {
        try (ScriptedStore one = new ScriptedStore(status(200, "1"));
                ScriptedStore two = new ScriptedStore(status(200, "2"));
                AwsBackend backend = ScriptedBackend.over(USUAL, one.endpoint(),
                        two.endpoint())) {
            for (int i = 0; i < 20; i++) {
                assertThat(calls(backend).get("k").status()).isEqualTo(200);
            }
            assertThat(one.received()).hasSizeBetween(8, 12);
            assertThat(two.received()).hasSizeBetween(8, 12);
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(2);
        }
    }

    @Test
    void aDeadEndpointCostsARetryAndThenNothing() {
        try (ScriptedStore alive = new ScriptedStore(status(200, "alive"));
                AwsBackend backend = ScriptedBackend.over(USUAL, dead(), alive.endpoint())) {
            for (int i = 0; i < 50; i++) {
                assertThat(calls(backend).get("k").text()).isEqualTo("alive");
            }
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
            assertThat(backend.stats().retries()).isEqualTo(3);
            assertThat(backend.isReachable()).isTrue();
        }
    }

    @Test
    void anEndpointThatReturnsIsUsedAgain() {
        URI address = dead();
        try (AwsBackend backend = ScriptedBackend.over(USUAL.attempting(3), address)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"))
                    .satisfies(failure -> assertThat(failure.isTimeout()).isFalse());
            assertThat(backend.isReachable()).isFalse();
            try (ScriptedStore back = new ScriptedStore(ServerSocketFactory.getDefault(), "http",
                    address.getPort(), status(403, "who is there?"))) {
                ScriptedBackend.await(backend::isReachable);
                assertThat(back.received().getFirst().line()).isEqualTo("HEAD / HTTP/1.1");
                assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
            }
        }
    }

    @Test
    void serverErrorsInARowPutAnEndpointOutUntilItRecovers() {
        Script error = status(500, "");
        try (ScriptedStore store = new ScriptedStore(error, error, error, error, error,
                status(200, "well"));
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(3), store)) {
            assertThat(calls(backend).get("k").status()).isEqualTo(500);
            ScriptedBackend.await(() -> store.received().size() >= 6);
            ScriptedBackend.await(backend::isReachable);
            assertThat(calls(backend).get("k").text()).isEqualTo("well");
        }
    }

    @Test
    void whenAllAreOutTheyAreStillTried() {
        Script error = status(500, "");
        try (ScriptedStore store = new ScriptedStore(error);
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1), store)) {
            for (int i = 0; i < 10; i++) {
                assertThat(calls(backend).get("k").status()).isEqualTo(500);
            }
            assertThat(backend.isReachable()).isFalse();
        }
    }

    /** An address where nothing listens. */
    private static URI dead() {
        try (ScriptedStore closed = new ScriptedStore(status(200, ""))) {
            return closed.endpoint();
        }
    }
}
