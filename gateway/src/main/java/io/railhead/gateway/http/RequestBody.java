package io.railhead.gateway.http;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.buffer.BufferInternal;

/** A body that the client sends over HTTP. It is read from the socket only on demand. */
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
            // The peer left before the body had a subscriber, and no event follows.
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

    /** Called if the socket has delivered the whole body already. */
    protected void readAlready() {
        ended();
    }

    private void piece(Buffer piece) {
        received(((BufferInternal) piece).getByteBuf().nioBuffer());
    }

    /**
     * Starts reading on the first demand for bytes. The client may be waiting for 100 Continue
     * until then.
     */
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
