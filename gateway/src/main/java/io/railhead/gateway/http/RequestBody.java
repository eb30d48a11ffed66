package io.railhead.gateway.http;

import io.railhead.gateway.auth.BodyReader;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.buffer.BufferInternal;

/** A body that the client sends over HTTP, read from the socket only as it is asked for. */
public class RequestBody extends VerifiedBody {
    private final Exchange exchange;
    private final HttpServerRequest request;
    private boolean wanted;

    public RequestBody(Exchange exchange, BodyReader reader) {
        super(exchange.executor(), reader);
        this.exchange = exchange;
        this.request = exchange.request();
    }

    @Override
    protected void begin() {
        if (exchange.isOver() && !request.isEnded()) {
            // The peer left before anybody listened; nothing will be heard of it any more.
            fail(new S3Exception(S3Error.INCOMPLETE_BODY));
            return;
        }
        if (request.isEnded()) {
            readAlready();
            return;
        }
        exchange.onBody(this::piece, this::ended,
                () -> fail(new S3Exception(S3Error.INCOMPLETE_BODY)));
    }

    /** The socket has nothing more of it. */
    protected void readAlready() {
        ended();
    }

    private void piece(Buffer piece) {
        received(((BufferInternal) piece).getByteBuf().nioBuffer());
    }

    /** The first time somebody wants the body, and not only its end: a client may wait for that. */
    @Override
    protected void fetch() {
        if (request.isEnded()) {
            ended();
            return;
        }
        if (!wanted) {
            wanted = true;
            if ("100-continue".equalsIgnoreCase(request.getHeader("expect"))) {
                request.response().writeContinue();
            }
        }
        request.fetch(1);
    }
}
