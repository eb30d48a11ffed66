package io.railhead.gateway.relay;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.PayloadSigning;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;

/**
 * Checks the HTTP body of a request whose object comes from the client's memory. The body must be
 * empty: of two bodies the intended one would be unknown. Its framing may hold a trailer, which
 * SDKs send.
 */
public final class EmptyBody {
    private static final int MAX_FRAMING_BYTES = 8 << 10;

    private final HttpExchange httpExchange;
    private final BodyReader reader;
    private int framingBytes;

    private EmptyBody(HttpExchange httpExchange, BodyReader reader) {
        this.httpExchange = httpExchange;
        this.reader = reader;
    }

    /**
     * Runs the next step once the body is known to be empty; otherwise throws or fails the
     * exchange.
     */
    public static void require(HttpExchange httpExchange, S3Request request, Runnable next) {
        if (isChunked(request.authentication())) {
            BodyReader reader = BodyReader.open(request.authentication(), request.headers());
            if (reader.decodedLength() != 0) {
                throw notEmpty();
            }
            new EmptyBody(httpExchange, reader).read(next);
            return;
        }
        String length = request.header("content-length");
        if (request.header("transfer-encoding") != null
                || (length != null && !length.equals("0"))) {
            throw notEmpty();
        }
        next.run();
    }

    private static boolean isChunked(Authentication authentication) {
        return authentication instanceof Authentication.Signed signed
                && (signed.payload() instanceof PayloadSigning.SignedChunks
                        || signed.payload() instanceof PayloadSigning.UnsignedChunks);
    }

    private void read(Runnable next) {
        httpExchange.onBody(this::accept, () -> {
            if (!httpExchange.isAnswered() && !httpExchange.isOver()) {
                reader.end(_ -> {
                    throw notEmpty();
                });
                next.run();
            }
        }, () -> httpExchange.fail(new S3Refusal(S3Error.INCOMPLETE_BODY)));
        if ("100-continue".equalsIgnoreCase(httpExchange.request().getHeader("expect"))) {
            httpExchange.request().response().writeContinue();
        }
        httpExchange.request().resume();
    }

    private void accept(Buffer piece) {
        framingBytes += piece.length();
        if (httpExchange.isAnswered() || httpExchange.isOver()) {
            return;
        }
        if (framingBytes > MAX_FRAMING_BYTES) {
            throw notEmpty();
        }
        reader.accept(((BufferInternal) piece).getByteBuf().nioBuffer(), _ -> {
            throw notEmpty();
        });
    }

    private static S3Refusal notEmpty() {
        return new S3Refusal(S3Error.INVALID_REQUEST,
                "A request with an RDMA token must have an empty body.");
    }
}
