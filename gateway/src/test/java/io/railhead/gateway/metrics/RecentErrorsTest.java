package io.railhead.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.railhead.gateway.metrics.RecentErrors.Entry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class RecentErrorsTest {
    @Test
    void theLastAreKeptTheNewestFirst() {
        RecentErrors errors = new RecentErrors(3);
        assertThat(errors.newestFirst()).isEmpty();
        IntStream.range(0, 5)
                .forEach(i -> errors.add("id" + i, "NoSuchKey", 404, "GetObject",
                        "b" + i));
        assertThat(errors.newestFirst()).extracting(Entry::requestId)
                .containsExactly("id4", "id3", "id2");
    }

    @Test
    void equalOnesAreOneAndPushNoOtherOut() {
        RecentErrors errors = new RecentErrors(3);
        errors.add("other", "NoSuchKey", 404, "GetObject", "b");
        IntStream.range(0, 5)
                .forEach(i -> errors.add("id" + i, "ServiceUnavailable", 503, "GetObject", "b"));
        assertThat(errors.newestFirst()).extracting(Entry::requestId, Entry::times)
                .containsExactly(tuple("id4", 5L), tuple("other", 1L));
        assertThat(errors.newestFirst().getFirst().since())
                .isBeforeOrEqualTo(errors.newestFirst().getFirst().at());
    }

    @Test
    void aLongNameIsCut() {
        RecentErrors errors = new RecentErrors(3);
        errors.add("id", "InvalidBucketName", 400, "unknown", "b".repeat(10_000));
        assertThat(errors.newestFirst().getFirst().bucket()).hasSize(101).endsWith("…");
    }

    @Test
    void manyThreadsLoseNoneOfTheLast() {
        RecentErrors errors = new RecentErrors(50);
        List<CompletableFuture<Void>> threads = IntStream.range(0, 4)
                .mapToObj(thread -> CompletableFuture.runAsync(() -> IntStream.range(0, 1000)
                        .forEach(i -> errors.add("id", "E", 500, "op", ""))))
                .toList();
        threads.forEach(CompletableFuture::join);
        assertThat(errors.newestFirst()).hasSize(1);
        assertThat(errors.newestFirst().getFirst().times()).isEqualTo(4000);
        assertThat(errors.newestFirst().getFirst().number()).isEqualTo(3999);
    }
}
