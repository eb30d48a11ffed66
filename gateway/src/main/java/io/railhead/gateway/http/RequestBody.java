package io.railhead.gateway.http;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.buffer.BufferInternal;

/** A body that the client sends over HTTP, read from the socket only as it is asked for. */
public class RequestBody extends VerifiedBody {
    private final HttpExchange httpExchange;
    private final HttpServerRequest request;
    private boolean wanted;

    public RequestBody(HttpExchange httpExchange, BodyReader reader) {
        super(httpExchange.executor(), reader);
        this.httpExchange = httpExchange;
        this.request = httpExchange.request();
    }

    @Override
    protected void begin() {
        if (httpExchange.isOver() && !request.isEnded()) {
            // The peer left before anybody listened; nothing will be heard of it any more.
            fail(new S3Refusal(S3Error.INCOMPLETE_BODY));
            return;
        }
        if (request.isEnded()) {
            readAlready();
            return;
        }
        httpExchange.onBody(this::piece, this::ended,
                () -> fail(new S3Refusal(S3Error.INCOMPLETE_BODY)));
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
