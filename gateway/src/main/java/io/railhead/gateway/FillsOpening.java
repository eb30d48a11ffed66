package io.railhead.gateway;

import static io.railhead.gateway.ShutdownStack.await;
import static io.railhead.gateway.ShutdownStack.bound;

import io.railhead.gateway.cluster.FillPort;
import io.railhead.gateway.cluster.PeerFills;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.ListenAddress;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.request.Routes;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;

/** Opens the way by which members of a cluster ask each other for pages. */
final class FillsOpening {
    private final GatewayConfig.Cluster cluster;
    private final ListenAddress address;
    private final WatchedFiles files;
    private final Vertx vertx;

    FillsOpening(GatewayConfig.Cluster cluster, ListenAddress address, WatchedFiles files,
            Vertx vertx) {
        this.cluster = cluster;
        this.address = address;
        this.files = files;
        this.vertx = vertx;
    }

    /** Answers other members, and asks them, from now on until the stack is stopped. */
    void open(PeerFills fills, ReadServices reads, CredentialStore credentials, Routes routes,
            ShutdownStack shutdownStack) {
        FillPort port = new FillPort(vertx, credentials, routes, reads, fills);
        GatewayConfig.Tls tls = cluster.tls();
        if (tls != null) {
            shutdownStack.opened(files.openClusterTls(tls, vertx, options -> {
                port.use(options);
                fills.use(options);
            }));
        }
        shutdownStack.opened(fills.open());
        HttpServer server = bound("cluster.fills", address,
                port.listen(address.host(), address.port()));
        shutdownStack.push(() -> await(server.close()));
    }
}
