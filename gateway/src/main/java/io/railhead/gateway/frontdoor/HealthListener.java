package io.railhead.gateway.frontdoor;

import io.prometheus.client.exporter.common.TextFormat;
import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.ServerSSLOptions;

/**
 * {@code /livez}, {@code /readyz} and {@code /metrics}, on the health port.
 *
 * <p> If clients must show a certificate, probes still need none: kubelet has none to show. Without
 * one, {@code /metrics} is refused and {@code /readyz} has its first line only.
 */
public final class HealthListener implements TlsPort {

    private final Vertx vertx;
    private final OperatorPort port;
    private final Metrics metrics;
    private final PlainRequests requests;
    private final Readiness readiness;

    public HealthListener(Vertx vertx, Metrics metrics, Readiness readiness) {
        this.vertx = vertx;
        this.port = new OperatorPort(vertx, "gateway.health_tls", ClientAuth.REQUEST);
        this.metrics = metrics;
        this.requests = new PlainRequests("health", metrics);
        this.readiness = readiness;
    }

    @Override
    public void use(ServerSSLOptions tls) {
        port.use(tls);
    }

    public Future<HttpServer> listen(String host, int number) {
        return port.listen(requests.guarded(this::handle), host, number);
    }

    private void handle(HttpServerRequest request) {
        switch (String.valueOf(request.path())) {
            case "/livez" -> text(request, 200, "ok\n");
            case "/readyz" -> ready(request);
            case "/metrics" -> {
                if (mayBeTold(request)) {
                    scrape(request);
                } else {
                    text(request, 403, "a client certificate is needed\n");
                }
            }
            default -> text(request, 404, "try /livez, /readyz or /metrics\n");
        }
    }

    private boolean mayBeTold(HttpServerRequest request) {
        return !port.verifiesClients() || OperatorPort.isVerified(request);
    }

    /**
     * Answers with the readiness in the first line; further lines give the state of stores and
     * fabrics at any status.
     */
    private void ready(HttpServerRequest request) {
        String reason = readiness.reasonNotReady();
        StringBuilder body = new StringBuilder(reason.isEmpty() ? "ok" : reason).append('\n');
        if (mayBeTold(request)) {
            readiness.stores().forEach(store -> body.append(store).append('\n'));
            readiness.fabrics().forEach(fabric -> body.append(fabric).append('\n'));
        }
        text(request, reason.isEmpty() ? 200 : 503, body.toString());
    }

    /** Collecting walks every series, so it stays off the event loop. */
    private void scrape(HttpServerRequest request) {
        vertx.executeBlocking(metrics::text)
                .onSuccess(rendered -> requests.run(request, () -> request.response()
                        .putHeader("content-type", TextFormat.CONTENT_TYPE_004)
                        .end(rendered)))
                .onFailure(cause -> requests.fail(request, cause));
    }

    private static void text(HttpServerRequest request, int status, String body) {
        request.response().setStatusCode(status).putHeader("content-type", "text/plain").end(body);
    }
}
