package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.protocol.token.Decline;

/**
 * An HTTP body as destination. Requests that the cache cannot serve are relayed.
 *
 * @param declined the reason why RDMA was requested and is not used; "" if it was not requested
 */
record HttpBodyDestination(ReadServices services, HttpExchange exchange, S3Request request,
        String declined) implements Destination {

    @Override
    public ResponseSink requester() {
        return exchange;
    }

    @Override
    public void deliver(ObjectRead read, ReadPlan plan, CacheResult expected) {
        exchange.moves(plan.length());
        new BodyRead(exchange, plan, expected, declined, read).start();
    }

    @Override
    public void uncacheable() {
        relay();
    }

    @Override
    public void refused() {
        relay();
    }

    /** Relays the request: the store's error document says more, under the store's request id. */
    @Override
    public void unsatisfiable() {
        relay();
    }

    @Override
    public void refused(BackendResponse answer) {
        Relay.pass(exchange, request.method(), answer);
    }

    /** Relays the request. A client that offered its memory learns why the memory was not used. */
    private void relay() {
        if (!declined.isEmpty()) {
            exchange.request().response().putHeader(Decline.REASON, declined);
        }
        services.relay().handle(exchange, request);
    }
}
