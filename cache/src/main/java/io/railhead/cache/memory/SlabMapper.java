package io.railhead.cache.memory;

import io.railhead.os.HugePageSize;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps the slabs: the first on demand, the rest on one background thread. That thread populates the
 * memory page by page, which is slow and keeps a core busy. A slab is populated, then registered by
 * the fabrics, then joins. Only {@link #close} unmaps.
 */
final class SlabMapper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SlabMapper.class);
    private static final long MOST_BYTES = 1L << 30;
    /** The first slab's size: enough to begin serving, which waits for it, and no more. */
    private static final long FIRST_BYTES = 64L << 20;

    private record MappedSlab(int id, MemorySegment segment) implements Slab {}

    private final MemoryConfig config;
    private final Consumer<Slab> onSlab;
    private final Consumer<MemorySegment> join;
    private final List<Mapping> mappings = new ArrayList<>();
    private final Thread thread = new Thread(this::mapRest, "railhead-slabs");
    private long mappedBytes;
    private volatile boolean closing;

    SlabMapper(MemoryConfig config, Consumer<Slab> onSlab, Consumer<MemorySegment> join) {
        this.config = config;
        this.onSlab = onSlab;
        this.join = join;
        thread.setDaemon(true);
    }

    /** Maps the first slab, and returns when it can be used. */
    void mapFirst() {
        try {
            mapNext();
        } catch (RuntimeException | Error e) {
            unmap();
            throw e;
        }
    }

    /**
     * Starts mapping the rest, once, after {@link #mapFirst}; does nothing after {@link #close}.
     */
    void startRest() {
        if (!closing && remaining() > 0) {
            thread.start();
        }
    }

    private long remaining() {
        long left = config.memoryBytes() - mappedBytes;
        return left - left % config.pageBytes();
    }

    private void mapNext() {
        Mapping mapping = map(
                Math.min(mappings.isEmpty() ? firstBytes() : MOST_BYTES, remaining()));
        int id = mappings.size();
        mappings.add(mapping);
        mapping.populate();
        if (config.lock() && config.hugePages() == null) {
            mapping.lock();
        }
        onSlab.accept(new MappedSlab(id, mapping.segment()));
        mappedBytes += mapping.segment().byteSize();
        join.accept(mapping.segment());
    }

    private long firstBytes() {
        HugePageSize pages = config.hugePages();
        return pages == null ? FIRST_BYTES : Math.max(FIRST_BYTES, pages.bytes());
    }

    private Mapping map(long bytes) {
        HugePageSize pages = config.hugePages();
        if (pages == null) {
            return Mapping.anonymous(bytes);
        }
        try (MemoryFile file = MemoryFile.create("railhead-slab", bytes, pages)) {
            return file.map();
        } catch (OsException e) {
            throw new IllegalArgumentException("cache.huge_pages: no " + (bytes >> 20)
                    + "MiB of pages of " + pages + ": " + e.getMessage(), e);
        }
    }

    private void mapRest() {
        try {
            while (!closing && remaining() > 0) {
                mapNext();
                LOG.info("cache memory: {} of {} MiB serve", mappedBytes >> 20,
                        config.memoryBytes() >> 20);
            }
        } catch (RuntimeException | Error e) {
            LOG.error("cache memory: stays at {} of {} MiB", mappedBytes >> 20,
                    config.memoryBytes() >> 20, e);
        }
    }

    /** Stops the background thread, after the slab that it is mapping. */
    void stop() {
        closing = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
        unmap();
    }

    private void unmap() {
        mappings.forEach(Mapping::close);
        mappings.clear();
    }
}
