package io.railhead.client;

import java.io.IOException;

/** Moves single parts between a store and this process's memory. Blocking; any thread. */
sealed interface PartTransport extends AutoCloseable permits HttpParts, LoopbackParts {

    /** Reads one range whole, checks it, and shows it to {@code sink} once. */
    Part fetch(PartRequest request, PartSink sink) throws IOException;

    /** Stores the region as an object or as a part of an upload; answers its ETag. */
    String store(StoreRequest request) throws IOException;

    /** The most bytes that one {@link #store} takes. */
    long storeLimit() throws IOException;

    @Override
    void close();
}
