package io.railhead.benchmarks;

import io.railhead.cache.CacheConfig;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.Verification;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A cache that holds one object whole, so that every read of it is a hit. Reads run on the caller's
 * thread, as they do on an event loop.
 */
public final class HeldObject implements AutoCloseable {
    private static final int CHUNK_BYTES = 64 << 10;
    private static final ObjectId ID = new ObjectId("store", "account", "models",
            "llama/model-00001-of-00004.safetensors", null);

    private final PageMemory memory;
    private final ObjectCache cache;
    private final ObjectVersion version;
    private final long bytes;

    /** A source without a store, whose bytes count up. */
    private record Counting(ByteBuffer chunk) implements PageSource {

        static Counting create() {
            ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
            for (int i = 0; i < CHUNK_BYTES; i++) {
                chunk.put(i, (byte) i);
            }
            return new Counting(chunk);
        }

        @Override
        public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
            for (long left = length; left > 0; left -= CHUNK_BYTES) {
                sink.write(chunk.slice(0, (int) Math.min(left, CHUNK_BYTES)));
            }
            sink.complete();
        }
    }

    /** The receiver of one hit, which takes ownership of the slices. */
    private record Receiver(Consumer<PageSlice> slices) implements RangeReader.Sink {

        @Override
        public void slice(PageSlice ownedSlice) {
            slices.accept(ownedSlice);
        }

        @Override
        public void end() {}

        @Override
        public void failed(FillException cause, long atOffset) {
            throw new IllegalStateException("not held at " + atOffset, cause);
        }
    }

    public HeldObject(int pageBytes, long bytes) {
        this(pageBytes, bytes, Verification.NONE);
    }

    HeldObject(int pageBytes, long bytes, Verification verification) {
        this.bytes = bytes;
        long memoryBytes = 2 * bytes + (64L << 20);
        memory = PageMemory.open(new MemoryConfig(memoryBytes, pageBytes, 0.05, false),
                slab -> {});
        while (memory.stats().capacityBytes() < memoryBytes) {
            Thread.onSpinWait();
        }
        CacheConfig config = CacheConfig.DEFAULT;
        cache = new ObjectCache(memory, new CacheConfig(config.windowBytes(), config.runBytes(),
                config.shortageWait(), config.metadataEntries(), config.pinRatio(),
                config.readAhead(), config.tenants(), verification), System::nanoTime);
        version = new ObjectVersion(ID, "\"1\"", "", bytes);
        cache.learn(new ObjectMetadata(version, Map.of("etag", "\"1\""), System.nanoTime(),
                cache.writes().epoch(ID)));
        read(0, bytes, Counting.create(), PageSlice::close);
    }

    public long bytes() {
        return bytes;
    }

    /** Returns the object's metadata. */
    ObjectMetadata metadata() {
        return Objects.requireNonNull(cache.find(ID));
    }

    /** Finds the page with a byte, leases it, and gives the lease back; slices of each thread. */
    void lease(long offset, @Nullable PageSlice[] slices) {
        if (cache.tryLease(version, offset, offset + 1, slices) != 1) {
            throw new IllegalStateException("not held: " + offset);
        }
        Objects.requireNonNull(slices[0]).close();
    }

    /** Looks the object up and hands over a range of it, all before it returns. */
    public void read(long from, long to, Consumer<PageSlice> ownedSlices) {
        read(from, to, (version, offset, length, sink) -> {
            throw new IllegalStateException("not held: " + offset);
        }, ownedSlices);
    }

    private void read(long from, long to, PageSource source, Consumer<PageSlice> ownedSlices) {
        cache.read(new ReadRequest(metadata().version(), from, to, Pool.CACHE), source,
                Runnable::run,
                new Receiver(ownedSlices)).start();
    }

    @Override
    public void close() {
        cache.close();
        memory.close();
    }
}
