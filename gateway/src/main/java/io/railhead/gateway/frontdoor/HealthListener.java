package io.railhead.gateway.frontdoor;

import io.prometheus.client.exporter.common.TextFormat;
import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.tracing.TracingPolicy;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** {@code /livez}, {@code /readyz} and {@code /metrics}, on the health port. */
public final class HealthListener {
    /** Longer than any scrape's interval. */
    private static final int IDLE_SECONDS = 300;

    private final Vertx vertx;
    private final Metrics metrics;
    private final PlainRequests requests;
    private final Readiness readiness;

    public HealthListener(Vertx vertx, Metrics metrics, Readiness readiness) {
        this.vertx = vertx;
        this.metrics = metrics;
        this.requests = new PlainRequests("health", metrics);
        this.readiness = readiness;
    }

    public Future<HttpServer> listen(String host, int port) {
        return vertx.createHttpServer(options())
                .requestHandler(requests.guarded(this::handle))
                .listen(port, host);
    }

    /** Options of the health and admin ports: an idle connection is closed. */
    public static HttpServerOptions options() {
        // Clients that try to upgrade to HTTP/2 gain nothing here, and some wait for ever.
        return new HttpServerOptions().setHttp2ClearTextEnabled(false)
                .setTracingPolicy(TracingPolicy.IGNORE)
                .setIdleTimeout(IDLE_SECONDS)
                .setTcpKeepAlive(true);
    }

    private void handle(HttpServerRequest request) {
        switch (String.valueOf(request.path())) {
            case "/livez" -> text(request, 200, "ok\n");
            case "/readyz" -> ready(request);
            case "/metrics" -> scrape(request);
            default -> text(request, 404, "try /livez, /readyz or /metrics\n");
        }
    }

    /**
     * Answers with the readiness in the first line; further lines give the state of stores and
     * fabrics at any status.
     */
    private void ready(HttpServerRequest request) {
        String reason = readiness.reasonNotReady();
        StringBuilder body = new StringBuilder(reason.isEmpty() ? "ok" : reason).append('\n');
        readiness.stores().forEach(store -> body.append(store).append('\n'));
        readiness.fabrics().forEach(fabric -> body.append(fabric).append('\n'));
        text(request, reason.isEmpty() ? 200 : 503, body.toString());
    }

    /** Collecting walks every series, so it stays off the event loop. */
    private void scrape(HttpServerRequest request) {
        vertx.executeBlocking(this::render)
                .onSuccess(rendered -> requests.run(request, () -> request.response()
                        .putHeader("content-type", TextFormat.CONTENT_TYPE_004)
                        .end(rendered)))
                .onFailure(cause -> requests.fail(request, cause));
    }

    private String render() {
        StringWriter out = new StringWriter(16 << 10);
        try {
            TextFormat.write004(out, metrics.registry().metricFamilySamples());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toString();
    }

    private static void text(HttpServerRequest request, int status, String body) {
        request.response().setStatusCode(status).putHeader("content-type", "text/plain").end(body);
    }
}
