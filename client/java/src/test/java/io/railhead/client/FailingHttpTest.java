package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.client.FakeGateway.Mood;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is asked over HTTP and comes late, or never. */
class FailingHttpTest {
    private static final ObjectName NAME = new ObjectName("bucket", "object");
    private static final int BYTES = 20_000;

    private final FakeGateway gateway;

    @TempDir
    Path folder;

    FailingHttpTest() throws IOException {
        gateway = new FakeGateway();
    }

    @BeforeEach
    void storeAnObject() {
        gateway.objects.put("/bucket/object", new byte[BYTES]);
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP", "TOKEN"})
    void readsAtATimeAreAsManyAsStreams(Via via) {
        gateway.mood = Mood.SLOWLY;
        try (RailheadClient client = gateway.client(via, 3);
                RegisteredBuffer buffer = client.register(BYTES)) {
            List<Read> reads = IntStream.range(0, 40)
                    .mapToObj(i -> Read.of(NAME, i * 100L, 100, buffer, i * 100L))
                    .toList();
            for (CompletionStage<Part> part : client.getAll(reads)) {
                part.toCompletableFuture().join();
            }
        }
        assertThat(gateway.mostUnderWay.get()).isBetween(1, 3);
    }
}
