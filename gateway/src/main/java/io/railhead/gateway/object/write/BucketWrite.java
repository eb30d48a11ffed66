package io.railhead.gateway.object.write;

import io.railhead.backend.Payload;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.Peers;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.http.RequestBody;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.S3Request;
import java.util.concurrent.CompletionStage;

/**
 * A relayed request that may change keys which its head does not name, such as an upload by an HTML
 * form. Afterwards every object of the bucket is revalidated before it is served.
 */
public final class BucketWrite implements Operation {
    private final Relay relay;
    private final ObjectCache cache;

    public BucketWrite(Relay relay, ObjectCache cache) {
        this.relay = relay;
        this.cache = cache;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        relay.forward(httpExchange, request, outcome -> ended(request, outcome));
    }

    /** Forwards a request whose body has been read in part. */
    public void forward(HttpExchange httpExchange, S3Request request, RequestBody body,
            Payload payload) {
        relay.forward(httpExchange, request, payload, body, outcome -> ended(request, outcome));
    }

    private CompletionStage<?> ended(S3Request request, Relay.Outcome outcome) {
        if (request.route().rule().isCacheOnly()) {
            // The index knows each object: no other tenant's may count as changed.
            return Peers.NOBODY;
        }
        return cache.writes()
                .endInBucket(request.route().backend().name(),
                        String.valueOf(request.address().bucket()),
                        ObjectWrite.outcomeOf(request, outcome));
    }
}
