package io.railhead.gateway.frontdoor;

import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.s3.Guard;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests to the ports beside the front door, which answer in plain text. A handler that throws is
 * answered 500, or its connection closed where an answer has begun. Event loop only.
 */
public final class PlainRequests {
    private static final Logger LOG = LoggerFactory.getLogger(PlainRequests.class);

    private final String port;
    private final Metrics metrics;

    /** @param port as metrics name it */
    public PlainRequests(String port, Metrics metrics) {
        this.port = port;
        this.metrics = metrics;
    }

    Handler<HttpServerRequest> guarded(Handler<HttpServerRequest> handler) {
        return request -> run(request, () -> handler.handle(request));
    }

    /** Runs a step towards the answer. */
    public void run(HttpServerRequest request, Runnable step) {
        Guard.run(step, thrown -> fail(request, thrown));
    }

    /** Answers that it failed, as far as that can still be said. */
    public void fail(HttpServerRequest request, Throwable thrown) {
        LOG.warn("{}: {} failed", port, request.path(), thrown);
        metrics.internalErrors.labels(port).inc();
        HttpServerResponse response = request.response();
        if (response.headWritten()) {
            request.connection().close();
        } else if (!response.ended() && !response.closed()) {
            response.headers().clear();
            response.setStatusCode(500)
                    .putHeader("content-type", "text/plain")
                    .end("the gateway failed; its log says why\n");
        }
    }
}
