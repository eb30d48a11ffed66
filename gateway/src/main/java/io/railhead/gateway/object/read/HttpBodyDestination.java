package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.cache.FillException;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.HttpDelivery;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.protocol.token.Decline;
import io.vertx.core.http.HttpServerResponse;

/**
 * An HTTP body as destination. Requests that the cache cannot serve are relayed. Without a page to
 * fill, the rest of a body comes uncached; a body that cannot be finished is cut. Event loop only.
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
        ReadContext scope = read.scope();
        HttpDelivery delivery = new HttpDelivery(exchange, plan.length(),
                () -> head(scope, plan, scope.settled(expected)),
                (cause, atOffset, begun) -> {
                    if (cause.reason() == FillException.Reason.NO_MEMORY) {
                        HttpServerResponse response = begun == null
                                ? uncachedHead(scope, plan, expected)
                                : begun;
                        new UncachedBody(exchange, scope.request(), plan, response)
                                .continueAt(atOffset);
                    } else if (begun == null) {
                        unbegun(read, cause);
                    } else {
                        cut(read, cause);
                    }
                });
        RangeReader reader = scope.reader(plan, Pool.CACHE, delivery);
        exchange.onClosed(reader::cancel);
        reader.start();
    }

    private HttpServerResponse uncachedHead(ReadContext scope, ReadPlan plan,
            CacheResult expected) {
        return head(scope, plan, expected == CacheResult.STALE ? expected : CacheResult.MISS);
    }

    private HttpServerResponse head(ReadContext scope, ReadPlan plan, CacheResult result) {
        scope.count(plan, result, "http");
        HttpServerResponse response = AnswerHead.write(exchange, scope.request(), plan,
                result);
        if (!declined.isEmpty()) {
            response.putHeader(Decline.REASON, declined);
        }
        return response;
    }

    private void unbegun(ObjectRead read, FillException cause) {
        switch (cause.reason()) {
            case VERSION_CHANGED, NOT_FOUND, REFUSED -> read.restart(cause);
            case BACKEND_ERROR -> read.uncacheable();
            case BACKEND_FAILED, CORRUPT, NO_MEMORY -> exchange.fail(StoreErrors.of(cause));
        }
    }

    private void cut(ObjectRead read, FillException cause) {
        switch (cause.reason()) {
            case VERSION_CHANGED, NOT_FOUND, REFUSED -> {
                read.forget(cause);
                exchange.cut("version");
            }
            case BACKEND_ERROR, BACKEND_FAILED, CORRUPT, NO_MEMORY -> exchange.cut("backend");
        }
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
