package io.railhead.gateway.object.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many clients at once for one cold object. */
class HerdIT {
    private static final int A_RUN = 8 << 20;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 512MiB
            """);

    @Test
    void twoHundredClientsMoveAColdObjectOnce() {
        moveOnce(200, 16 << 20);
    }

    @Test
    @Tag("long")
    void aThousandClientsMoveAColdObjectOnce() {
        moveOnce(1000, 16 << 20);
    }

    private void moveOnce(int clients, int bytes) {
        byte[] object = new byte[bytes];
        new Random(64).nextBytes(object);
        store.put("/b/cold", object);
        // It serves with its first part, which the object alone fills.
        TestGateway.await(() -> gateway.memory().capacityBytes() == 512L << 20);
        TestClient client = gateway.client();

        List<CompletableFuture<Integer>> answers = IntStream.range(0, clients)
                .mapToObj(i -> client.sendAsync("/b/cold", comparing(object)))
                .toList();

        assertThat(answers.stream().map(CompletableFuture::join)).containsOnly(object.length);
        assertThat(store.count("GET /b/cold")).isLessThanOrEqualTo(bytes / A_RUN + 1);
        assertThat(rangesOf(store)).isEqualTo(object.length);
        gateway.assertNoLease();
    }

    /** Compares as bytes arrive, so that all bodies are not held at once; the body is the count. */
    private static BodyHandler<Integer> comparing(byte[] object) {
        return info -> {
            AtomicInteger at = new AtomicInteger();
            return BodySubscribers
                    .mapping(BodySubscribers.ofByteArrayConsumer(piece -> piece.ifPresent(bytes -> {
                        int from = at.getAndAdd(bytes.length);
                        assertThat(Arrays.equals(object, from, from + bytes.length, bytes, 0,
                                bytes.length)).isTrue();
                    })), ignored -> at.get());
        };
    }

    private static long rangesOf(FakeStore store) {
        return store.requests()
                .stream()
                .filter(request -> request.startsWith("GET /b/cold"))
                .map(request -> request.replaceAll(".*bytes=", "").split("-", 2))
                .mapToLong(range -> Long.parseLong(range[1]) + 1 - Long.parseLong(range[0]))
                .sum();
    }
}
