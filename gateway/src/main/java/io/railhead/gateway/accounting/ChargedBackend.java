package io.railhead.gateway.accounting;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Body;
import io.railhead.backend.BodySink;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.ForwardingBackend;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A store whose requests and bytes are counted as one tenant's in one bucket. A request without a
 * response counts too, since the store may have done it. The store's owner closes it.
 */
record ChargedBackend(Backend store, boolean namesObject, Rows rows) implements ForwardingBackend {

    /** The row of a request. */
    @FunctionalInterface
    interface Rows {

        /** @param isGood whether the store's response is no error */
        Usage row(boolean isGood);
    }

    @Override
    public CompletionStage<BackendResponse> send(BackendRequest request) {
        return charged(request, store.send(request));
    }

    @Override
    public CompletionStage<BackendResponse> fetch(BackendRequest request, FetchTurn turn) {
        return charged(request, store.fetch(request, turn));
    }

    private CompletionStage<BackendResponse> charged(BackendRequest request,
            CompletionStage<BackendResponse> answer) {
        Kind kind = Kind.of(request.method(), namesObject);
        return answer.whenComplete((_, failure) -> {
            if (failure != null) {
                rows.row(false).asked(kind);
            }
        }).thenApply(response -> {
            Usage row = rows.row(response.status() < 400);
            row.asked(kind);
            return counting(response, row);
        });
    }

    private static BackendResponse counting(BackendResponse response, Usage row) {
        return new BackendResponse(response.status(), response.headers(),
                new Counted(response.body(), row));
    }

    /** A body whose bytes are counted on their way. */
    private record Counted(Body body, Usage row) implements Body {

        @Override
        public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
            body.subscribe(new CountingSubscriber(subscriber, row));
        }

        @Override
        public void pour(BodySink sink) {
            body.pour(new CountingSink(sink, row));
        }
    }

    private record CountingSubscriber(Subscriber<? super ByteBuffer> reader,
            Usage row) implements Subscriber<ByteBuffer> {

        @Override
        public void onSubscribe(Subscription subscription) {
            reader.onSubscribe(subscription);
        }

        @Override
        public void onNext(ByteBuffer bytes) {
            row.received(bytes.remaining());
            reader.onNext(bytes);
        }

        @Override
        public void onError(Throwable cause) {
            reader.onError(cause);
        }

        @Override
        public void onComplete() {
            reader.onComplete();
        }
    }

    private record CountingSink(BodySink sink, Usage row) implements BodySink {

        @Override
        public @Nullable ByteBuffer room() {
            return sink.room();
        }

        @Override
        public void landed(int bytes) {
            row.received(bytes);
            sink.landed(bytes);
        }

        @Override
        public void write(ByteBuffer bytes) {
            row.received(bytes.remaining());
            sink.write(bytes);
        }

        @Override
        public void complete() {
            sink.complete();
        }

        @Override
        public void fail(Throwable cause) {
            sink.fail(cause);
        }
    }
}
