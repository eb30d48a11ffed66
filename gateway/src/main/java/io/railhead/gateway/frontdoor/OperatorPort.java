package io.railhead.gateway.frontdoor;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.tracing.TracingPolicy;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * A port that is not for S3: health, administration, or fills of other gateways. Cleartext, or TLS
 * with or without client certificates.
 */
public final class OperatorPort implements TlsPort {
    /** Longer than any scrape's interval. */
    private static final int IDLE_SECONDS = 300;
    private static final int UPDATE_SECONDS = 30;

    private final Vertx vertx;
    private final String key;
    private final ClientAuth clients;
    // Clients that try to upgrade to HTTP/2 gain nothing here, and some wait for ever.
    private final HttpServerOptions options = new HttpServerOptions()
            .setHttp2ClearTextEnabled(false)
            .setUseAlpn(false)
            .setTracingPolicy(TracingPolicy.IGNORE)
            .setIdleTimeout(IDLE_SECONDS)
            .setTcpKeepAlive(true);
    private volatile @Nullable HttpServer server;

    /**
     * @param key the setting of its certificate, for messages
     * @param clients how a client's certificate is asked for, where an authority is set
     */
    public OperatorPort(Vertx vertx, String key, ClientAuth clients) {
        this.vertx = vertx;
        this.key = key;
        this.clients = clients;
    }

    @Override
    public void use(ServerSSLOptions tls) {
        ServerSSLOptions own = tls.copy();
        if (own.getTrustOptions() != null) {
            own.setClientAuth(clients);
        }
        HttpServer listening = server;
        if (listening == null) {
            options.setSsl(true)
                    .setKeyCertOptions(own.getKeyCertOptions())
                    .setTrustOptions(own.getTrustOptions())
                    .setClientAuth(own.getClientAuth())
                    .setEnabledSecureTransportProtocols(own.getEnabledSecureTransportProtocols());
            return;
        }
        try {
            listening.updateSSLOptions(own, true).await(UPDATE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception | Error e) {
            // Futures rethrow their cause, which may be a checked exception.
            throw new IllegalArgumentException(key + ": " + e.getMessage(), e);
        }
    }

    public Future<HttpServer> listen(Handler<HttpServerRequest> handler, String host, int port) {
        return vertx.createHttpServer(options)
                .requestHandler(handler)
                .listen(port, host)
                .onSuccess(listening -> server = listening);
    }

    boolean isTls() {
        return options.isSsl();
    }

    /** Returns whether only clients with a certificate are told everything. */
    boolean verifiesClients() {
        return options.isSsl() && options.getTrustOptions() != null;
    }

    /** Returns whether the client has shown a certificate that the authority has signed. */
    static boolean isVerified(HttpServerRequest request) {
        SSLSession session = request.isSSL() ? request.sslSession() : null;
        try {
            return session != null && session.getPeerCertificates().length > 0;
        } catch (SSLPeerUnverifiedException e) {
            return false;
        }
    }
}
