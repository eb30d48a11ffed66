package io.railhead.gateway.relay;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.gateway.request.ResponseSink;
import java.util.function.BiConsumer;

/**
 * Takes stores' responses to the requester's executor. An unread body would keep its connection and
 * its place in the store's queue, so a body is discarded if its response cannot be used.
 */
public final class StoreAnswers {
    private StoreAnswers() {}

    /**
     * @param taken called on the requester's executor with a response or a failure; an exception
     *            fails the request
     */
    public static BiConsumer<BackendResponse, Throwable> to(ResponseSink responseSink,
            BiConsumer<BackendResponse, Throwable> taken) {
        return (answer, failure) -> responseSink.executor().execute(() -> {
            try {
                taken.accept(answer, failure);
            } catch (RuntimeException | Error e) {
                if (answer != null) {
                    BodyDrain.discard(answer.body());
                }
                throw e;
            }
        });
    }
}
