package io.railhead.gateway.http;

import io.railhead.gateway.log.HttpAccess;
import io.railhead.gateway.request.RequestTarget;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** The access log's view of a request that Vert.x serves. */
record ServerTalk(HttpServerRequest request) implements HttpAccess.Talk {

    @Override
    public String method() {
        return request.method().name();
    }

    @Override
    public String uri() {
        return RequestTarget.originForm(request.uri());
    }

    @Override
    public @Nullable String header(String name) {
        return request.getHeader(name);
    }

    @Override
    public @Nullable String peer() {
        SocketAddress peer = request.remoteAddress();
        return peer == null ? null : peer.hostAddress();
    }

    @Override
    public @Nullable SSLSession tls() {
        return request.isSSL() ? request.sslSession() : null;
    }

    @Override
    public int status() {
        return request.response().getStatusCode();
    }

    @Override
    public @Nullable String answerHeader(String name) {
        return request.response().headers().get(name);
    }

    @Override
    public long bodyBytes() {
        return request.response().bytesWritten();
    }
}
