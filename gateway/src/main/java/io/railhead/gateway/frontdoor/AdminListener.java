package io.railhead.gateway.frontdoor;

import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;

/**
 * The listener for status and administration, on a port of its own that only operators should
 * reach. Event loop only.
 */
public final class AdminListener {
    private final Vertx vertx;
    private final PlainRequests requests;
    private final Map<String, Handler<HttpServerRequest>> paths;

    public AdminListener(Vertx vertx, Metrics metrics,
            Map<String, Handler<HttpServerRequest>> paths) {
        this.vertx = vertx;
        this.requests = new PlainRequests("admin", metrics);
        this.paths = Map.copyOf(paths);
    }

    public Future<HttpServer> listen(String host, int port) {
        return vertx.createHttpServer(HealthListener.options())
                .requestHandler(requests.guarded(this::handle))
                .listen(port, host);
    }

    private void handle(HttpServerRequest request) {
        if (!isForThisMachine(request.headers().getAll("host"))) {
            text(request, 403, "the admin port is asked for by address or as localhost\n");
            return;
        }
        paths.getOrDefault(String.valueOf(request.path()), AdminListener::refuse).handle(request);
    }

    private static void refuse(HttpServerRequest request) {
        text(request, 404, "no such page\n");
    }

    /**
     * Refuses other Host names, against DNS rebinding: a foreign page in the operator's browser can
     * have its own name resolved to this address. The browser then sends that name, and would let
     * the page read the response.
     */
    private static boolean isForThisMachine(List<String> hosts) {
        if (hosts.size() != 1) {
            return false;
        }
        String host = hosts.getFirst();
        int colon = host.lastIndexOf(':');
        String name = colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
        return name.equalsIgnoreCase("localhost") || isAddress(name);
    }

    private static boolean isAddress(String name) {
        boolean bracketed = name.startsWith("[") && name.endsWith("]");
        try {
            InetAddress address = InetAddress
                    .ofLiteral(bracketed ? name.substring(1, name.length() - 1) : name);
            return bracketed == (address instanceof Inet6Address);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static void text(HttpServerRequest request, int status, String body) {
        request.response().setStatusCode(status).putHeader("content-type", "text/plain").end(body);
    }
}
