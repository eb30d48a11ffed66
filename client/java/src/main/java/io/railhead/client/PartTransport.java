package io.railhead.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Moves single parts between a store and this process's memory. Any thread. */
sealed interface PartTransport extends AutoCloseable permits HttpParts, TokenParts, ChannelParts {

    /** Reads one whole range, checks it, and passes it to {@code sink} once. Blocks. */
    Part fetch(PartRequest request, PartSink sink) throws IOException;

    /** Reads all ranges, in order if {@code streams} is one. Blocks. */
    default void fetchAll(List<PartRequest> requests, PartSink sink, Streams streams)
            throws IOException {
        List<Callable<Part>> parts = new ArrayList<>();
        for (PartRequest request : requests) {
            parts.add(() -> fetch(request, sink));
        }
        streams.all(parts);
    }

    /** Returns memory for {@link #read}. */
    RegisteredBuffer register(long bytes);

    /** Returns the channel for blocks of a cache; throws if the client has none. */
    default BlockChannel blocks() {
        throw new IllegalStateException("blocks go via loopback or verbs alone");
    }

    /**
     * Reads each range into its own buffer. Never blocks; stages may complete on a thread that
     * others need, which must not be blocked.
     */
    List<CompletableFuture<Part>> read(List<Read> reads);

    /** Stores the region as an object or as a part of an upload; returns its ETag. Blocks. */
    String store(StoreRequest request) throws IOException;

    /** The most bytes that one {@link #store} takes. */
    long storeLimit() throws IOException;

    /** Returns an object's metadata without reading it. Blocks. */
    ObjectHeads.Head head(ObjectName name) throws IOException;

    @Override
    void close();
}
