package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.cache.writeback.LogReader;
import io.railhead.cache.writeback.WriteLog;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
 */
record StoreWriter(WriteLog log, Function<String, @Nullable Backend> stores,
        Function<String, @Nullable Caller> callers) {
    private static final Logger LOG = LoggerFactory.getLogger(StoreWriter.class);

    /** The end of one try. */
    sealed interface Outcome {

        /** The store has the object, with the promised ETag. */
        record Written() implements Outcome {}

        /** The store did not answer, or cannot now: the next try may succeed. */
        record Later() implements Outcome {}

        /** The store will not have it before somebody has done something. */
        record Refused(String reason) implements Outcome {}
    }

    /** Writes one object; the stage never fails. */
    CompletionStage<Outcome> write(PendingWrite pending) {
        Backend store = stores.apply(pending.name().backend());
        Caller caller = callers.apply(pending.write().head().principal());
        if (store == null) {
            return refused("no backend is called " + pending.name().backend());
        }
        if (caller == null) {
            return refused("its writer has no credential for the store any more");
        }
        return put(store, caller, pending);
    }

    private static CompletionStage<Outcome> refused(String reason) {
        return CompletableFuture.completedStage(new Outcome.Refused(reason));
    }

    private CompletionStage<Outcome> put(Backend store, Caller caller, PendingWrite pending) {
        AtomicReference<@Nullable Throwable> unreadable = new AtomicReference<>();
        Payload payload = payload(pending, unreadable);
        if (payload == null) {
            return CompletableFuture.completedStage(new Outcome.Later());
        }
        Headers.Builder headers = Headers.builder();
        pending.write().head().headers().forEach(headers::add);
        headers.set("Content-MD5", Base64.getEncoder()
                .encodeToString(HexFormat.of().parseHex(bare(pending.write().etag()))));
        BackendRequest request = Requests.put(pending.name().target(""), caller, headers.build(),
                payload);
        return send(store, request).thenApply(answer -> {
            BodyDrain.discard(answer.body());
            return outcome(pending, answer);
        }).exceptionally(failure -> failed(failure, unreadable.get()));
    }

    private static CompletionStage<BackendResponse> send(Backend store, BackendRequest request) {
        try {
            return store.send(request);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** Returns null if the entry is gone. */
    private @Nullable Payload payload(PendingWrite pending,
            AtomicReference<@Nullable Throwable> unreadable) {
        long size = pending.sizeBytes();
        if (size == 0) {
            return new Payload.Stream(new FixedBody(ByteBuffer.allocate(0)), 0,
                    "UNSIGNED-PAYLOAD", Map.of());
        }
        List<LogReader> readers = pending.tryRead(log);
        return readers == null
                ? null
                : new Payload.Stream(new LogBody(readers, 0, size, unreadable::set), size,
                        "UNSIGNED-PAYLOAD", Map.of());
    }

    private static String bare(String etag) {
        return etag.replace("\"", "");
    }

    private static Outcome outcome(PendingWrite pending, BackendResponse answer) {
        if (!answer.isSuccess()) {
            return isPassing(answer.status())
                    ? new Outcome.Later()
                    : new Outcome.Refused("the store answered " + answer.status());
        }
        String etag = answer.headers().get("etag");
        if (etag == null || !bare(etag).equals(bare(pending.write().etag()))) {
            // The store has checked the MD5, so it has the bytes: it names them otherwise.
            LOG.error("store {} gave {}/{} the ETag {}, and the gateway had promised {}",
                    pending.name().backend(), pending.name().bucket(), pending.name().key(), etag,
                    pending.write().etag());
        }
        return new Outcome.Written();
    }

    /** Returns whether the same request may succeed without anybody's help. */
    private static boolean isPassing(int status) {
        return switch (status) {
            case 408, 409, 425, 429 -> true;
            case 501, 505, 507 -> false;
            default -> status >= 500;
        };
    }

    private static Outcome failed(Throwable failure, @Nullable Throwable unreadable) {
        if (unreadable != null) {
            return new Outcome.Refused("the log's bytes cannot be read: "
                    + unreadable.getMessage());
        }
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return cause instanceof BackendException
                ? new Outcome.Later()
                : new Outcome.Refused("internal: " + cause);
    }
}
