package io.railhead.gateway.relay;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.gateway.request.ResponseSink;
import java.util.function.BiConsumer;

/**
 * Takes stores' answers to whoever asked. A body that nobody reads keeps its connection, and its
 * place among those to the store: where an answer cannot be taken, its body is let go.
 */
public final class StoreAnswers {
    private StoreAnswers() {}

    /**
     * @param taken on the requester's executor: an answer, or why there is none; what it throws
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
