package io.railhead.backend.aws;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendConfig;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConnectionPoolTest {
    private static final String NAME = "never-asked";

    /** The first request comes on an event loop, which would wait for the start of a thread. */
    @Test
    void threadsRunBeforeTheFirstRequest() {
        BackendConfig config = new BackendConfig(NAME, List.of(URI.create("http://127.0.0.1:1")),
                "r", null, true, Duration.ofSeconds(1), Duration.ofSeconds(1),
                Duration.ofSeconds(1), 8, 3, BackendConfig.TrailerPolicy.AUTO,
                BackendConfig.Fetches.of(8), null);
        try (ConnectionPool _ = new ConnectionPool(config)) {
            long expected = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getName().startsWith("backend-" + NAME + "-"))
                    .hasSize((int) expected);
        }
    }
}
