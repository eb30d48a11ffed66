package io.railhead.gateway.object.write;

import io.railhead.backend.BackendResponse;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.Peers;
import io.railhead.cache.WriteOutcome;
import io.railhead.cache.Writes;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.KeyReadings;
import io.railhead.gateway.request.S3Request;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A relayed request that changes one object or its metadata. The client's response follows the
 * backend's, and knowledge from before the write is not served after it.
 */
public final class ObjectWrite implements Operation {
    private final Relay relay;
    private final ObjectCache cache;

    public ObjectWrite(Relay relay, ObjectCache cache) {
        this.relay = relay;
        this.cache = cache;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        Writes.Write write = begin(cache, request, request.objectId());
        try {
            relay.forward(httpExchange, request, outcome -> {
                write.end(outcomeOf(request, outcome));
                return write.heard();
            });
        } catch (RuntimeException | Error e) {
            write.end(WriteOutcome.REFUSED);
            throw e;
        }
    }

    /** @param id the object that the request names, which need not be all that it changes */
    public static Writes.Write begin(ObjectCache cache, S3Request request, ObjectId id) {
        if (request.route().rule().isCacheOnly()) {
            return OF_THE_INDEX;
        }
        Writes.Write write = cache.writes().begin(id);
        if (!request.hasStoresOwnHeader() && !KeyReadings.isAmbiguous(id.key())) {
            return write;
        }
        return new BroadWrite(cache.writes(), id, write);
    }

    /** A write of a cache-only object: the index itself is written, and nothing else knows it. */
    private static final Writes.Write OF_THE_INDEX = new Writes.Write() {
        @Override
        public long end(WriteOutcome outcome) {
            return Writes.DISTURBED;
        }

        @Override
        public CompletionStage<Void> heard() {
            return Peers.NOBODY;
        }
    };

    /** A write that may change other keys of the bucket than the one it names. */
    private static final class BroadWrite implements Writes.Write {
        private final Writes writes;
        private final ObjectId id;
        private final Writes.Write named;
        private CompletionStage<Void> others = Peers.NOBODY;

        BroadWrite(Writes writes, ObjectId id, Writes.Write named) {
            this.writes = writes;
            this.id = id;
            this.named = named;
        }

        @Override
        public long end(WriteOutcome outcome) {
            others = writes.endInBucket(id.backend(), id.bucket(), outcome);
            named.end(outcome);
            // The bytes that were sent need not be the key's content now.
            return Writes.DISTURBED;
        }

        @Override
        public CompletionStage<Void> heard() {
            return CompletableFuture.allOf(others.toCompletableFuture(),
                    named.heard().toCompletableFuture());
        }
    }

    /**
     * Returns the outcome of a write. A deletion or a copy needs no body: the store may have
     * performed it although the body was not sent.
     */
    static WriteOutcome outcomeOf(S3Request request, Relay.Outcome outcome) {
        boolean isInTheHead = request.method().equals("DELETE")
                || request.header("x-amz-copy-source") != null;
        return isInTheHead && outcome instanceof Relay.Outcome.Unsent
                ? WriteOutcome.UNKNOWN
                : outcomeOf(outcome);
    }

    public static WriteOutcome outcomeOf(Relay.Outcome outcome) {
        return switch (outcome) {
            case Relay.Outcome.Answered(BackendResponse answer) -> outcomeOf(answer);
            case Relay.Outcome.Failed _ -> WriteOutcome.UNKNOWN;
            case Relay.Outcome.Unsent _ -> WriteOutcome.REFUSED;
        };
    }

    public static WriteOutcome outcomeOf(BackendResponse answer) {
        int status = answer.status();
        return switch (status) {
            case 501 -> WriteOutcome.REFUSED;
            // A proxy on the way may have timed out after the store's work.
            case 408 -> WriteOutcome.UNKNOWN;
            // With a store's request id, 503 is a refusal. A proxy, such as this gateway, also
            // sends it for a broken connection.
            case 503 -> answer.headers().contains("x-amz-request-id")
                    && !answer.headers().contains("x-railhead-request-id")
                            ? WriteOutcome.DONE
                            : WriteOutcome.UNKNOWN;
            default -> status >= 500
                    ? WriteOutcome.UNKNOWN
                    : status >= 400 ? WriteOutcome.REFUSED : WriteOutcome.DONE;
        };
    }
}
