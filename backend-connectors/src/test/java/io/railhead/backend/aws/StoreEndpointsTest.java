package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.railhead.backend.BackendException;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ServerSocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One store behind several addresses, some of them out of order. */
class StoreEndpointsTest {

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
            assertThat(backend.stats().retries()).isEqualTo(1);
            assertThat(backend.isReachable()).isTrue();
        }
    }

    @Test
    void anEndpointThatReturnsIsUsedAgain() {
        URI address = dead();
        try (AwsBackend backend = ScriptedBackend.over(USUAL.attempting(3), address)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"));
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
    void serverErrorsOfMostObjectsPutAnEndpointOutUntilItRecovers() {
        Script error = status(503, "");
        try (ScriptedStore store = new ScriptedStore(error, error, error, error, error,
                status(200, "well"));
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1), store)) {
            for (String key : List.of("a", "b", "c")) {
                assertThat(calls(backend).get(key).status()).isEqualTo(503);
            }
            ScriptedBackend.await(() -> store.received().size() >= 6);
            ScriptedBackend.await(backend::isReachable);
            assertThat(calls(backend).get("k").text()).isEqualTo("well");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 501, 502, 503, 504})
    void whatAStoreSaysOfOneObjectIsNoEvidenceAboutTheStore(int status) {
        try (ScriptedStore store = new ScriptedStore(status(status, ""));
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(3), store)) {
            for (int i = 0; i < 5; i++) {
                assertThat(calls(backend).get("bad").status()).isEqualTo(status);
                assertThat(calls(backend).put("bad", new byte[3]).status()).isEqualTo(status);
            }
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
            assertThat(store.received()).noneMatch(asked -> asked.line().startsWith("HEAD / "));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "SMTP ready\r\n\r\n"})
    void anObjectThatBreaksItsConnectionIsNoEvidenceAboutTheStore(String said) {
        Script breaks = (request, line) -> {
            line.write(said, new byte[0]);
            line.close();
        };
        try (ScriptedStore store = new ScriptedStore(breaks);
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(3), store)) {
            for (int i = 0; i < 5; i++) {
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> calls(backend).get("bad"));
            }
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
            for (String key : List.of("worse", "worst")) {
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> calls(backend).get(key));
            }
            assertThat(backend.stats().healthyEndpoints()).isZero();
        }
    }

    @Test
    void anObjectThatHangsPutsNoEndpointOutThatAnswersForItself() {
        CountDownLatch probed = new CountDownLatch(1);
        try (ScriptedStore store = new ScriptedStore(hanging(probed));
                AwsBackend backend = ScriptedBackend.over(
                        USUAL.attempting(1).answering(ScriptedBackend.SHORT), store)) {
            for (int i = 0; i < 4; i++) {
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> calls(backend).get("hangs"));
            }
            await(probed);
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
        }
    }

    private static Script hanging(CountDownLatch probed) {
        return (request, line) -> {
            if (request.line().startsWith("HEAD / ")) {
                status(403, "").play(request, line);
                probed.countDown();
            } else {
                line.awaitClosed();
            }
        };
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Which the client of a store can bring about by reading slowly. */
    @Test
    void aLackOfConnectionsIsNoEvidenceAboutTheStore() {
        Script slow = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", new byte[5]);
            line.awaitClosed();
        };
        try (ScriptedStore store = new ScriptedStore(slow);
                AwsBackend backend = ScriptedBackend.over(
                        USUAL.attempting(1).answering(ScriptedBackend.SHORT), store)) {
            for (int i = 0; i < ScriptedBackend.CONNECTIONS; i++) {
                Calls.await(backend.send(Requests.get(calls(backend).target("k" + i, null),
                        ScriptedBackend.CREDENTIAL, Headers.NONE)));
            }
            for (int i = 0; i < 4; i++) {
                String key = "waits" + i;
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> calls(backend).get(key))
                        .matches(failure -> failure.reason() == BackendException.Reason.BUSY);
            }
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
        }
    }

    @Test
    void anErrorOfThisProcessIsNoEvidenceAboutTheStore() {
        BackendException ours = HttpFailures.translate(new OutOfMemoryError("Java heap space"));
        try (var timer = new ScheduledThreadPoolExecutor(0)) {
            StoreEndpoints endpoints = new StoreEndpoints(List.of(dead()), Tuning.DEFAULT, timer,
                    _ -> new CompletableFuture<>());
            for (int i = 0; i < 20; i++) {
                endpoints.failed(endpoints.pick(null), new Target("b", "k" + i, null), ours);
            }
            assertThat(endpoints.healthy()).isOne();
            timer.shutdownNow();
        }
    }

    @Test
    void anEndpointThatIsSilentAboutItselfTooIsOut() {
        try (ScriptedStore store = new ScriptedStore((request, line) -> line.awaitClosed());
                AwsBackend backend = ScriptedBackend.over(
                        USUAL.attempting(1).answering(ScriptedBackend.SHORT), store)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"));
            ScriptedBackend.await(() -> !backend.isReachable());
        }
    }

    @Test
    void whenAllAreOutTheyAreStillTried() {
        Script error = status(500, "");
        try (ScriptedStore store = new ScriptedStore(error);
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1), store)) {
            for (int i = 0; i < 10; i++) {
                assertThat(calls(backend).get("k" + i).status()).isEqualTo(500);
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
