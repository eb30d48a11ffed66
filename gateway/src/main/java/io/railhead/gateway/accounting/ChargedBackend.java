package io.railhead.gateway.accounting;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.ForwardingBackend;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;
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
                subscriber -> response.body().subscribe(new Counting(subscriber, row)));
    }

    /** Counts the bytes of a body on their way. */
    private record Counting(Subscriber<? super ByteBuffer> reader,
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
}
