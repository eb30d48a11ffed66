package io.railhead.gateway.frontdoor;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;

/**
 * Vert.x's request decoder, made stricter: a Content-Length beside a Transfer-Encoding is refused.
 * The usual decoder drops the length silently, and a proxy on the way may have framed by it (RFC
 * 9112 §6.3).
 */
final class StrictDecoder extends VertxHttpRequestDecoder {

    private StrictDecoder(HttpServerOptions options) {
        super(options);
    }

    /** Replaces the decoder before the connection's first byte; event loop only. */
    static void replaceIn(ChannelPipeline pipeline, HttpServerOptions options) {
        String name = pipeline.context(HttpRequestDecoder.class).name();
        pipeline.replace(name, name, new StrictDecoder(options));
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new IllegalArgumentException("Content-Length beside Transfer-Encoding");
    }
}
