package io.railhead.gateway.operation;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.ContentRange;
import io.railhead.backend.Requests;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.BodyRelay;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;
import io.vertx.core.http.HttpServerResponse;

/**
 * The rest of a body when the cache has no page for it: one GET of the same version, passed on as
 * it comes. Event loop only.
 */
final class UncachedBody {
    private final Exchange exchange;
    private final S3Request request;
    private final ReadPlan plan;
    private final HttpServerResponse response;

    /** @param response its head is written already */
    UncachedBody(Exchange exchange, S3Request request, ReadPlan plan, HttpServerResponse response) {
        this.exchange = exchange;
        this.request = request;
        this.plan = plan;
        this.response = response;
    }

    void continueAt(long offset) {
        request.route()
                .backend()
                .send(Requests.rangedGet(request.objectTarget(), request.caller(), offset,
                        plan.to() - offset,
                        plan.metadata().version().etag()))
                .whenComplete(StoreAnswers.to(exchange, (answer, failure) -> {
                    if (failure != null) {
                        exchange.cut("backend");
                    } else {
                        pass(answer, offset);
                    }
                }));
    }

    private void pass(BackendResponse answer, long offset) {
        long length = plan.to() - offset;
        ContentRange range = ContentRange.tryParse(answer.headers().get("content-range"));
        boolean same = answer.status() == 206 && range != null && range.first() == offset
                && plan.metadata().version().etag().equals(answer.headers().get("etag"));
        if (!same || exchange.isOver()) {
            BodyDrain.discard(answer.body());
            exchange.cut("version");
            return;
        }
        answer.body().subscribe(new BodyRelay(exchange, response, length, outcome -> {
            if (outcome.complete()) {
                response.end();
            } else {
                exchange.cut("backend");
            }
        }));
    }
}
