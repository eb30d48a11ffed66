package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Asks stores whether a bucket is one whose writes may be acknowledged before the store has them:
 * it is there, was never versioned, and encrypts nothing by KMS. Object lock needs versioning, so
 * it is excluded too. Whatever is unknown is a no, and so is a bucket whose settings change. Any
 * thread; nothing blocks.
 */
final class StoreProbe {
    private static final Duration KNOWN = Duration.ofSeconds(60);
    private static final Duration UNKNOWN = Duration.ofSeconds(5);
    private static final int MOST_BYTES = 64 << 10;
    private static final int MOST_BUCKETS = 10_000;

    private final LongSupplier nanoClock;
    private final ConcurrentMap<Asked, Said> answers = new ConcurrentHashMap<>();
    /** Numbers of changes under way. */
    private final ConcurrentMap<PendingName.Bucket, Integer> changes = new ConcurrentHashMap<>();

    /** The rights of one caller say nothing of another's. */
    private record Asked(PendingName.Bucket bucket, String principal) {}

    private record Said(CompletableFuture<Boolean> isSimple, long atNanos) {}

    StoreProbe(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Returns whether the bucket is such a one; never fails. */
    CompletionStage<Boolean> isSimple(Backend store, PendingName.Bucket bucket, String principal,
            Caller caller) {
        if (changes.containsKey(bucket)) {
            return CompletableFuture.completedStage(false);
        }
        Asked asked = new Asked(bucket, principal);
        Said said = answers.get(asked);
        if (said != null && isFresh(said)) {
            return said.isSimple;
        }
        if (answers.size() > MOST_BUCKETS) {
            answers.clear();
        }
        CompletableFuture<Boolean> answer = ask(store, bucket.name(), caller)
                .exceptionally(_ -> false)
                .toCompletableFuture();
        answers.put(asked, new Said(answer, nanoClock.getAsLong()));
        return answer.thenApply(isSimple -> isSimple && !changes.containsKey(bucket));
    }

    /** Sends a request that may change what a bucket is. */
    <T> CompletionStage<T> changing(PendingName.Bucket bucket,
            Supplier<CompletionStage<T>> request) {
        changes.merge(bucket, 1, Integer::sum);
        forget(bucket);
        return CompletableFuture.<Void>completedFuture(null)
                .thenCompose(_ -> request.get())
                .whenComplete((_, _) -> {
                    forget(bucket);
                    changes.computeIfPresent(bucket, (_, count) -> count == 1 ? null : count - 1);
                });
    }

    private void forget(PendingName.Bucket bucket) {
        answers.keySet().removeIf(asked -> asked.bucket.equals(bucket));
    }

    private boolean isFresh(Said said) {
        boolean isSimple = said.isSimple.getNow(true);
        return nanoClock.getAsLong() - said.atNanos < (isSimple ? KNOWN : UNKNOWN).toNanos();
    }

    private static CompletionStage<Boolean> ask(Backend store, String bucket, Caller caller) {
        return get(store, bucket, "versioning", caller).thenCompose(versioning -> {
            boolean isUnversioned = versioning.status == 200
                    && versioning.document.contains("VersioningConfiguration")
                    && !versioning.document.contains("Status>");
            return isUnversioned
                    ? get(store, bucket, "encryption", caller).thenApply(StoreProbe::isPlain)
                    : CompletableFuture.completedStage(false);
        });
    }

    /** A store that knows no default encryption has none. */
    private static boolean isPlain(Answer encryption) {
        return switch (encryption.status) {
            case 404, 405, 501 -> true;
            case 200 -> !encryption.document.contains("kms");
            default -> false;
        };
    }

    private record Answer(int status, String document) {}

    private static CompletionStage<Answer> get(Backend store, String bucket, String subresource,
            Caller caller) {
        return store.send(Requests.get(new Target(bucket, "", subresource), caller, Headers.NONE))
                .thenCompose(StoreProbe::read);
    }

    private static CompletionStage<Answer> read(BackendResponse answer) {
        return BodyDrain.collect(answer.body(), MOST_BYTES)
                .thenApply(bytes -> new Answer(answer.status(),
                        new String(bytes, StandardCharsets.UTF_8)));
    }
}
