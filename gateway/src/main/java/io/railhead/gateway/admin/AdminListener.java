package io.railhead.gateway.admin;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.tracing.TracingPolicy;
import java.util.Map;

/** Status and administration, on a port that is the operator's alone. Event loop only. */
public final class AdminListener {
    private final Vertx vertx;
    private final Map<String, Handler<HttpServerRequest>> paths;

    public AdminListener(Vertx vertx, Map<String, Handler<HttpServerRequest>> paths) {
        this.vertx = vertx;
        this.paths = Map.copyOf(paths);
    }

    public Future<HttpServer> listen(String host, int port) {
        // Clients that try to upgrade to HTTP/2 gain nothing here, and some wait for ever.
        return vertx.createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false)
                .setTracingPolicy(TracingPolicy.IGNORE))
                .requestHandler(this::handle)
                .listen(port, host);
    }

    private void handle(HttpServerRequest request) {
        paths.getOrDefault(String.valueOf(request.path()), AdminListener::refuse).handle(request);
    }

    private static void refuse(HttpServerRequest request) {
        request.response()
                .setStatusCode(404)
                .putHeader("content-type", "text/plain")
                .end("no such page\n");
    }
}
