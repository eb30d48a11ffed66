package io.railhead.cache;

import io.railhead.cache.memory.PageMemory;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The objects held in page memory. Any thread; no call blocks. */
public final class ObjectCache implements AutoCloseable {

    /**
     * @param nanoClock
     *            monotonic, as {@link System#nanoTime}
     */
    public ObjectCache(PageMemory memory, CacheConfig config, LongSupplier nanoClock) {
        throw new UnsupportedOperationException();
    }

    public @Nullable ObjectMetadata find(ObjectId id) {
        throw new UnsupportedOperationException();
    }

    /** The key's generation now: taken when a request is sent, handed back with what it learnt. */
    public long generation(ObjectId id) {
        throw new UnsupportedOperationException();
    }

    /** Whether a write of this key is under way: then it is served as {@code strong}. */
    public boolean isBeingWritten(ObjectId id) {
        throw new UnsupportedOperationException();
    }

    /**
     * Indexes what the backend said; pages stay if ETag, size and version id agree with what was
     * held, else they are condemned.
     *
     * @return false if a write has overtaken it: it may finish its own answer but is not kept
     */
    public boolean learn(ObjectMetadata metadata) {
        throw new UnsupportedOperationException();
    }

    /** Forgets one object: its metadata and its pages. Leases run on. */
    public void evict(ObjectId id) {
        throw new UnsupportedOperationException();
    }

    /** A write is about to be forwarded: bumps the key's generation and forgets what is held. */
    public Write beginWrite(ObjectId id) {
        throw new UnsupportedOperationException();
    }

    /** An open write; exactly one call of {@link #end}. */
    public interface Write {

        void end(WriteOutcome outcome);
    }

    /**
     * Joins the id's discovery flight, or starts one from {@code source}. The stage completes when
     * the flight knows its metadata or has failed.
     */
    public CompletionStage<Discovery> discover(ObjectId id, DiscoverySource source) {
        throw new UnsupportedOperationException();
    }

    /**
     * How a discovery ended for one who took part.
     *
     * @param metadata
     *            null if it failed
     * @param own
     *            whether it was started by this call: then the answer is as new as the call
     */
    public record Discovery(@Nullable ObjectMetadata metadata, boolean own) {}

    /** A reader that has not been started. */
    public RangeReader read(ReadRequest request, PageSource source, Executor executor,
            RangeReader.Sink sink) {
        throw new UnsupportedOperationException();
    }

    public CacheStats stats() {
        throw new UnsupportedOperationException();
    }

    /** Condemns every page; memory itself belongs to {@link PageMemory}. */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
