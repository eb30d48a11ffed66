package io.railhead.gateway.channel;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BackendStats;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store that must not be asked. */
public class NoBackend implements Backend {

    @Override
    public String name() {
        return "store";
    }

    @Override
    public Capabilities capabilities() {
        return Capabilities.ASSUMED;
    }

    @Override
    public CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller) {
        return CompletableFuture.completedStage(Capabilities.ASSUMED);
    }

    @Override
    public boolean isReachable() {
        return true;
    }

    @Override
    public CompletionStage<BackendResponse> send(BackendRequest request) {
        throw new IllegalStateException("nobody asks the store: " + request);
    }

    @Override
    public BackendStats stats() {
        return new BackendStats(0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0);
    }

    @Override
    public void close() {
        // Nothing was opened.
    }
}
