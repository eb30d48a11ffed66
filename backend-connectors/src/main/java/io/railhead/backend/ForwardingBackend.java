package io.railhead.backend;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A view of a store that adds to its requests alone. The store's owner closes it. */
public interface ForwardingBackend extends Backend {

    /** Returns the store itself. */
    Backend store();

    @Override
    default String name() {
        return store().name();
    }

    @Override
    default String region() {
        return store().region();
    }

    @Override
    default Capabilities capabilities() {
        return store().capabilities();
    }

    @Override
    default CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller) {
        return store().probe(bucket, caller);
    }

    @Override
    default boolean isReachable() {
        return store().isReachable();
    }

    @Override
    default BackendStats stats() {
        return store().stats();
    }

    @Override
    default void close() {
        // The store's owner closes it.
    }
}
