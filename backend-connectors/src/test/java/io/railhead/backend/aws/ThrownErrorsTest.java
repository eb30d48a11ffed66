package io.railhead.backend.aws;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.testing.ScriptedStore;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** An Error on the way to the store: somebody waits for an answer, and others for the place. */
class ThrownErrorsTest {
    private volatile boolean planted;
    private final Clock clock = new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            if (planted) {
                throw new NoSuchFieldError("planted");
            }
            return Instant.parse("2026-11-20T12:00:00Z");
        }
    };

    @Test
    void aRequestThatCannotBeWrittenFailsAndGivesItsPlaceBack() throws Exception {
        try (ScriptedStore store = new ScriptedStore(ScriptedStore.Script.status(404, ""));
                AwsBackend backend = ScriptedBackend.over(ScriptedBackend.Options.USUAL, clock,
                        store.endpoint())) {
            planted = true;
            for (int i = 0; i <= ScriptedBackend.CONNECTIONS; i++) {
                CompletableFuture<BackendResponse> failed = ask(backend);
                assertThatThrownBy(() -> failed.get(30, SECONDS))
                        .hasRootCauseInstanceOf(NoSuchFieldError.class);
            }
            planted = false;
            BackendResponse answer = ask(backend).get(30, SECONDS);
            BodyDrain.discard(answer.body());
            assertThat(answer.status()).isEqualTo(404);
        }
    }

    private static CompletableFuture<BackendResponse> ask(AwsBackend backend) {
        return backend.send(Requests.head(new Target("b", "k", null), ScriptedBackend.CREDENTIAL))
                .toCompletableFuture();
    }
}
