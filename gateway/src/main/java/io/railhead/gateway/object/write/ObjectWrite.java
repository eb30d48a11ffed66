package io.railhead.gateway.object.write;

import io.railhead.backend.BackendResponse;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.WriteOutcome;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.KeyReadings;
import io.railhead.gateway.request.S3Request;

/**
 * A relayed request that changes one object or its metadata: the answer comes after the backend's,
 * and nothing learnt before it is served after it.
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
        ObjectCache.Write write = begin(cache, request, request.objectId());
        try {
            relay.forward(httpExchange, request, outcome -> write.end(outcomeOf(request, outcome)));
        } catch (RuntimeException | Error e) {
            write.end(WriteOutcome.REFUSED);
            throw e;
        }
    }

    /** @param id of what it names, which need not be all that it changes */
    public static ObjectCache.Write begin(ObjectCache cache, S3Request request, ObjectId id) {
        ObjectCache.Write write = cache.beginWrite(id);
        if (!request.hasStoresOwnHeader() && !KeyReadings.isAmbiguous(id.key())) {
            return write;
        }
        return outcome -> {
            cache.endBucketWrite(id.backend(), id.bucket(), outcome);
            write.end(outcome);
            // What was sent need not be what the key holds now.
            return ObjectCache.DISTURBED;
        };
    }

    /** A deletion or a copy is one by its head: a store may have done it without the body. */
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

    static WriteOutcome outcomeOf(BackendResponse answer) {
        int status = answer.status();
        return switch (status) {
            case 501 -> WriteOutcome.REFUSED;
            // Somebody on the way has lost patience.
            case 408 -> WriteOutcome.UNKNOWN;
            // The store's own refuses; a proxy, as we are, says it of a connection that broke, too.
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
