package io.railhead.gateway.http;

import io.railhead.gateway.auth.BodyReader;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A client's body on its way to the backend: decoded and verified piece by piece, read from the
 * socket only as the backend asks for it. Fails, so that the backend's request is cut, if the
 * client goes away or what it sent is not what it declared.
 *
 * <p>State belongs to the event loop; the subscriber's calls are taken there.
 */
public final class RequestBody implements Publisher<ByteBuffer> {
    private final Exchange exchange;
    private final HttpServerRequest request;
    private final Executor executor;
    private final BodyReader reader;
    private final Queue<ByteBuffer> decoded = new ArrayDeque<>();
    private @Nullable Subscriber<? super ByteBuffer> subscriber;
    private @Nullable S3Exception failure;
    private long demand;
    private boolean reading;
    private boolean ended;
    private boolean over;

    public RequestBody(Exchange exchange, BodyReader reader) {
        this.exchange = exchange;
        this.request = exchange.request();
        this.executor = exchange.executor();
        this.reader = reader;
    }

    /** Why the body was not what was declared; null if it was, or has not ended. */
    public @Nullable S3Exception failure() {
        return failure;
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> newSubscriber) {
        executor.execute(() -> {
            subscriber = newSubscriber;
            newSubscriber.onSubscribe(new Subscription() {
                @Override
                public void request(long n) {
                    executor.execute(() -> demanded(n));
                }

                @Override
                public void cancel() {
                    executor.execute(() -> over = true);
                }
            });
            if (failure != null) {
                newSubscriber.onError(failure);
            } else if (exchange.isOver() && !request.isEnded()) {
                // The peer left before anybody listened; nothing will be heard of it any more.
                fail(new S3Exception(S3Error.INCOMPLETE_BODY));
            } else {
                start();
            }
        });
    }

    private void start() {
        request.handler(this::received);
        request.exceptionHandler(cause -> fail(new S3Exception(S3Error.INCOMPLETE_BODY,
                "You did not provide the number of bytes specified by the Content-Length HTTP header.")));
        request.endHandler(ignored -> received());
        if (request.isEnded()) {
            received();
        } else if ("100-continue".equalsIgnoreCase(request.getHeader("expect"))) {
            request.response().writeContinue();
        }
    }

    private void demanded(long n) {
        demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
        emit();
    }

    private void received(Buffer piece) {
        reading = false;
        decode(((BufferInternal) piece).getByteBuf().nioBuffer());
        emit();
    }

    private void decode(ByteBuffer piece) {
        try {
            reader.accept(piece, decoded::add);
        } catch (S3Exception e) {
            fail(e);
        }
    }

    private void received() {
        if (ended || over) {
            return;
        }
        try {
            reader.end(decoded::add);
            ended = true;
            emit();
        } catch (S3Exception e) {
            fail(e);
        }
    }

    private void emit() {
        Subscriber<? super ByteBuffer> to = subscriber;
        if (to == null || over) {
            return;
        }
        while (demand > 0 && !decoded.isEmpty()) {
            demand--;
            to.onNext(decoded.remove());
        }
        if (ended && decoded.isEmpty()) {
            over = true;
            to.onComplete();
        } else if (demand > 0 && !reading && !ended) {
            reading = true;
            request.fetch(1);
        }
    }

    private void fail(S3Exception cause) {
        if (over) {
            return;
        }
        over = true;
        failure = cause;
        if (subscriber != null) {
            subscriber.onError(cause);
        }
    }
}
