package io.railhead.gateway.status;

import io.prometheus.client.Histogram;
import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BackendStats;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.FetchTurn;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A store whose response times are measured, waits and retries included. The store's owner closes
 * it.
 */
public record TimedBackend(Backend store, Histogram.Child seconds) implements Backend {

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

    @Override
    public String name() {
        return store.name();
    }

    @Override
    public String region() {
        return store.region();
    }

    @Override
    public Capabilities capabilities() {
        return store.capabilities();
    }

    @Override
    public CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller) {
        return store.probe(bucket, caller);
    }

    @Override
    public boolean isReachable() {
        return store.isReachable();
    }

    @Override
    public BackendStats stats() {
        return store.stats();
    }

    @Override
    public void close() {
        // The store's owner closes it.
    }
}
