package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.cache.WriteOutcome;
import io.railhead.gateway.object.write.ObjectWrite;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A request that waits until the writes before it are at the store. Any thread. */
final class Turn implements BucketQueue.Entry {
    private final String key;
    private final String source;
    private final Supplier<CompletionStage<BackendResponse>> request;
    private final CompletableFuture<BackendResponse> answer = new CompletableFuture<>();

    /**
     * @param key what the request changes, decoded; "" if that is not one key
     * @param source the key in the same bucket that the request copies, decoded; "" for none
     */
    Turn(String key, String source, Supplier<CompletionStage<BackendResponse>> request) {
        this.key = key;
        this.source = source;
        this.request = request;
    }

    @Override
    public String key() {
        return key;
    }

    boolean copies(String other) {
        return !source.isEmpty() && source.equals(other);
    }

    /** Returns the store's answer, or the failure to get one. */
    CompletionStage<BackendResponse> answer() {
        return answer;
    }

    /** Ends the request without sending it. */
    void refuse(Throwable cause) {
        answer.completeExceptionally(cause);
    }

    /**
     * Sends the request. The stage completes with the answer, and tells whether the store may still
     * perform the request; it never fails.
     */
    CompletionStage<Boolean> take() {
        return sent(request).handle((stored, failure) -> {
            if (stored != null) {
                answer.complete(stored);
            } else {
                answer.completeExceptionally(causeOf(failure));
            }
            return isUnclear(stored, failure);
        });
    }

    /** Sends a request; its failure to begin is one of the stage. */
    static CompletionStage<BackendResponse> sent(
            Supplier<CompletionStage<BackendResponse>> request) {
        try {
            return request.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    static Throwable causeOf(@Nullable Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure == null ? new IllegalStateException("no answer") : failure;
    }

    /** Returns whether the store may still perform a request that ended so. */
    static boolean isUnclear(@Nullable BackendResponse stored, @Nullable Throwable failure) {
        return stored != null
                ? ObjectWrite.outcomeOf(stored) == WriteOutcome.UNKNOWN
                : mayHaveReached(causeOf(failure));
    }

    /** Returns whether a request that failed may have reached the store. */
    static boolean mayHaveReached(Throwable cause) {
        return cause instanceof BackendException known && switch (known.reason()) {
            case UNREACHABLE, BUSY, RATE_LIMITED, UNSENT -> false;
            case LATE, BROKEN, MALFORMED, OVERSIZED, INTERNAL -> true;
        };
    }
}
