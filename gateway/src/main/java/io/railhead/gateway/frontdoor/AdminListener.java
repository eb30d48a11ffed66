package io.railhead.gateway.frontdoor;

import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.ServerSSLOptions;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;

/**
 * The listener for status and administration, on a port of its own that only operators should
 * reach. Event loop only.
 */
public final class AdminListener implements TlsPort {
    private final OperatorPort port;
    private final PlainRequests requests;
    private final Map<String, Handler<HttpServerRequest>> paths;

    public AdminListener(Vertx vertx, Metrics metrics,
            Map<String, Handler<HttpServerRequest>> paths) {
        this.port = new OperatorPort(vertx, "admin.tls", ClientAuth.REQUIRED);
        this.requests = new PlainRequests("admin", metrics);
        this.paths = Map.copyOf(paths);
    }

    /** A client without a certificate of the authority, where one is set, is not answered. */
    @Override
    public void use(ServerSSLOptions tls) {
        port.use(tls);
    }

    public Future<HttpServer> listen(String host, int number) {
        return port.listen(requests.guarded(this::handle), host, number);
    }

    private void handle(HttpServerRequest request) {
        if (!port.isTls() && !isForThisMachine(request.headers().getAll("host"))) {
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
     * the page read the response. Over TLS the certificate lacks that name.
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
