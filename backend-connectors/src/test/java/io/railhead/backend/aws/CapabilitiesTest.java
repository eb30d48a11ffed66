package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What a backend holds of its store, learnt from answers and from probes. */
class CapabilitiesTest {
    private static final String EMPTY = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";

    /** The probe of a gateway's start lists while its first clients are served. */
    @Test
    void aProbeThatEndsLaterDoesNotTakeBackWhatAnAnswerHasShown() throws Exception {
        CountDownLatch listed = new CountDownLatch(1);
        CountDownLatch shown = new CountDownLatch(1);
        Script store = (request, line) -> {
            if (request.line().startsWith("GET / ")) {
                listed.countDown();
                awaitQuietly(shown);
                line.write(EMPTY + "\r\n", new byte[0]);
            } else {
                line.write(EMPTY + "x-amz-checksum-crc32: AAAAAA==\r\n\r\n", new byte[0]);
            }
        };
        try (ScriptedStore scripted = new ScriptedStore(store);
                AwsBackend backend = ScriptedBackend.over(USUAL, scripted)) {
            var probe = backend.probe(null, ScriptedBackend.CREDENTIAL).toCompletableFuture();
            listed.await();
            calls(backend).head("k");
            assertThat(backend.capabilities().trailers()).isTrue();
            shown.countDown();
            assertThat(probe.join().trailers()).isTrue();
            assertThat(backend.capabilities().trailers()).isTrue();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
