package io.railhead.gateway.status;

import io.prometheus.client.Histogram;
import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.ForwardingBackend;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A store whose response times are measured, waits and retries included. The store's owner closes
 * it.
 */
public record TimedBackend(Backend store, Histogram.Child seconds) implements ForwardingBackend {

    @Override
    public CompletionStage<BackendResponse> send(BackendRequest request) {
        return timed(store::send, request);
    }

    @Override
    public CompletionStage<BackendResponse> fetch(BackendRequest request, FetchTurn turn) {
        return timed(asked -> store.fetch(asked, turn), request);
    }

    private CompletionStage<BackendResponse> timed(
            Function<BackendRequest, CompletionStage<BackendResponse>> way,
            BackendRequest request) {
        long sentNanos = System.nanoTime();
        return way.apply(request)
                .whenComplete((_, _) -> seconds.observe((System.nanoTime() - sentNanos) / 1e9));
    }
}
