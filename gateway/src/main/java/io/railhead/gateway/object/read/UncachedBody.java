package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.ContentRange;
import io.railhead.backend.Requests;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.BodyRelay;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.relay.StoreAnswers;
import io.railhead.gateway.request.S3Request;
import io.vertx.core.http.HttpServerResponse;

/**
 * The rest of a body for which the cache has no page: one GET of the same version, passed on as it
 * comes. Event loop only.
 */
final class UncachedBody {
    private final HttpExchange httpExchange;
    private final S3Request request;
    private final ReadPlan plan;
    private final HttpServerResponse response;

    /** @param response the client's response, whose head is written already */
    UncachedBody(HttpExchange httpExchange, S3Request request, ReadPlan plan,
            HttpServerResponse response) {
        this.httpExchange = httpExchange;
        this.request = request;
        this.plan = plan;
        this.response = response;
    }

    void continueAt(long offset) {
        request.store()
                .send(Requests.rangedGet(request.objectTarget(), request.caller(), offset,
                        plan.to() - offset,
                        plan.metadata().version().etag()))
                .whenComplete(StoreAnswers.to(httpExchange, (answer, failure) -> {
                    if (failure != null) {
                        httpExchange.cut("backend");
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
        if (!same || httpExchange.isOver()) {
            BodyDrain.discard(answer.body());
            httpExchange.cut("version");
            return;
        }
        answer.body().subscribe(new BodyRelay(httpExchange, response, length, outcome -> {
            if (outcome.complete()) {
                response.end();
            } else {
                httpExchange.cut("backend");
            }
        }));
    }
}
