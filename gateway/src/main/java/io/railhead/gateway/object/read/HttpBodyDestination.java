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
 * An HTTP body: what is not served from memory is relayed.
 *
 * @param declined why RDMA was asked for and is not used; "" if it was not asked for
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

    /** The store's own error document says more than ours would, under its own request id. */
    @Override
    public void unsatisfiable() {
        relay();
    }

    @Override
    public void refused(BackendResponse answer) {
        Relay.pass(exchange, request.method(), answer);
    }

    /** A client that offered its memory is told why it was not used. */
    private void relay() {
        if (!declined.isEmpty()) {
            exchange.request().response().putHeader(Decline.REASON, declined);
        }
        services.relay().handle(exchange, request);
    }
}
