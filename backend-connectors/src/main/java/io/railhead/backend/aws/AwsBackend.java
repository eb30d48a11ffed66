package io.railhead.backend.aws;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BackendStats;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The one implementation of {@link Backend}. */
public final class AwsBackend implements Backend {
    private final BackendConfig config;

    public AwsBackend(BackendConfig config) {
        this.config = config;
    }

    @Override
    public String name() {
        return config.name();
    }

    @Override
    public Capabilities capabilities() {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isReachable() {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<BackendResponse> send(BackendRequest request) {
        throw new UnsupportedOperationException();
    }

    @Override
    public BackendStats stats() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
