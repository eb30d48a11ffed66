package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.cache.WriteOutcome;
import io.railhead.cache.writeback.LogReader;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.object.write.ObjectWrite;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes pending objects to the store. Any thread; nothing blocks.
 *
 * @param stores finds a store by its name; null for one that is not configured
 * @param callers finds the identity that a principal has at the store now; null for none
 * @param throttles finds what spaces the requests to a store, by its name
 */
record StoreWriter(WriteLog log, Function<String, @Nullable Backend> stores,
        Function<String, @Nullable Caller> callers, Function<String, WriteThrottle> throttles) {
    private static final Logger LOG = LoggerFactory.getLogger(StoreWriter.class);

    /** The end of one try. */
    sealed interface Outcome {

        /** The store has the object, with the promised ETag. */
        record Written() implements Outcome {}

        /**
         * The store does not have it for sure.
         *
         * @param problem what somebody must mend before a try can succeed; "" for nothing
         * @param isUnknown whether the store may still perform this try
         */
        record Failed(String problem, boolean isUnknown) implements Outcome {}
    }

    /** Writes one object; the stage never fails. */
    CompletionStage<Outcome> write(PendingWrite pending) {
        Backend store = stores.apply(pending.name().backend());
        Caller caller = callers.apply(pending.write().head().principal());
        if (store == null) {
            return refusal("no backend is called " + pending.name().backend());
        }
        if (caller == null) {
            return refusal("its writer has no credential for the store any more");
        }
        WriteThrottle throttle = throttles.apply(store.name());
        return pending.write().isMultipart()
                ? new MultipartWriter(log, store, caller, throttle, pending).write()
                : throttle.admit(pending.sizeBytes())
                        .thenCompose(_ -> put(store, caller, throttle, pending));
    }

    private static CompletionStage<Outcome> refusal(String reason) {
        return CompletableFuture.completedStage(new Outcome.Failed(reason, false));
    }

    private CompletionStage<Outcome> put(Backend store, Caller caller, WriteThrottle throttle,
            PendingWrite pending) {
        AtomicReference<@Nullable Throwable> unreadable = new AtomicReference<>();
        LogReader reader = pending.tryRead(log);
        long size = pending.sizeBytes();
        if (reader == null) {
            throttle.giveBack(size);
            return CompletableFuture.completedStage(new Outcome.Failed("", false));
        }
        LogBody body = new LogBody(reader, 0, size, unreadable::set);
        Payload payload = new Payload.Stream(body, size, "UNSIGNED-PAYLOAD", Map.of());
        Headers.Builder headers = Headers.builder();
        pending.write().head().headers().forEach(headers::add);
        headers.set("Content-MD5", Base64.getEncoder()
                .encodeToString(
                        HexFormat.of().parseHex(Completion.bare(pending.write().etag()))));
        BackendRequest request = Requests.put(pending.name().target(""), caller, headers.build(),
                payload);
        // A request that was never sent has not subscribed to its body.
        return send(store, request).whenComplete((_, _) -> {
            body.closeUnused();
            throttle.giveBack(size - body.emittedBytes());
        }).thenApply(answer -> {
            BodyDrain.discard(answer.body());
            return outcome(pending, answer);
        }).exceptionally(failure -> failed(failure, unreadable.get()));
    }

    static CompletionStage<BackendResponse> send(Backend store, BackendRequest request) {
        try {
            return store.send(request);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private static Outcome outcome(PendingWrite pending, BackendResponse answer) {
        return answer.isSuccess()
                ? written(pending, answer.headers().get("etag"))
                : refused(answer);
    }

    /** @param etag as the store's answer has it */
    static Outcome written(PendingWrite pending, @Nullable String etag) {
        if (etag == null
                || !Completion.bare(etag).equals(Completion.bare(pending.write().etag()))) {
            // The store has checked the MD5, so it has the bytes: it names them otherwise.
            LOG.error("store {} gave {}/{} the ETag {}, and the gateway had promised {}",
                    pending.name().backend(), pending.name().bucket(), pending.name().key(), etag,
                    pending.write().etag());
        }
        return new Outcome.Written();
    }

    static Outcome.Failed refused(BackendResponse answer) {
        return new Outcome.Failed(
                isPassing(answer.status()) ? "" : "the store answered " + answer.status(),
                ObjectWrite.outcomeOf(answer) == WriteOutcome.UNKNOWN);
    }

    /** Returns whether the same request may succeed without anybody's help. */
    private static boolean isPassing(int status) {
        return switch (status) {
            case 408, 409, 425, 429 -> true;
            case 501, 505, 507 -> false;
            default -> status >= 500;
        };
    }

    static Outcome.Failed failed(Throwable failure, @Nullable Throwable unreadable) {
        if (unreadable != null) {
            return new Outcome.Failed("the log's bytes cannot be read: " + unreadable.getMessage(),
                    false);
        }
        Throwable cause = Turn.causeOf(failure);
        boolean isOfTheStore = cause instanceof BackendException known && switch (known.reason()) {
            case UNREACHABLE, BUSY, RATE_LIMITED, LATE, BROKEN, MALFORMED -> true;
            case OVERSIZED, UNSENT, INTERNAL -> false;
        };
        return new Outcome.Failed(isOfTheStore ? "" : "internal: " + cause,
                Turn.mayHaveReached(cause));
    }
}
