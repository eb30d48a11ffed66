package io.railhead.gateway.frontdoor;

import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.s3.Guard;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests to the health and admin ports, which answer in plain text. A handler that throws is
 * answered 500; if a response has begun, its connection is closed. Event loop only.
 */
public final class PlainRequests {
    private static final Logger LOG = LoggerFactory.getLogger(PlainRequests.class);

    private final String port;
    private final Metrics metrics;

    /** @param port the port's name in metrics */
    public PlainRequests(String port, Metrics metrics) {
        this.port = port;
        this.metrics = metrics;
    }

    Handler<HttpServerRequest> guarded(Handler<HttpServerRequest> handler) {
        return request -> run(request, () -> handler.handle(request));
    }

    /** Runs one step of a request; an exception fails the request. */
    public void run(HttpServerRequest request, Runnable step) {
        Guard.run(step, thrown -> fail(request, thrown));
    }

    /** Answers 500, or closes the connection if the head was written already. */
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
