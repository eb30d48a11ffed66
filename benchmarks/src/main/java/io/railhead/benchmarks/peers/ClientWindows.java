package io.railhead.benchmarks.peers;

import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;

/**
 * Client memory with a window for each request under way. Above a limit requests share windows:
 * they would all get the same bytes.
 *
 * @param content bytes that each window should hold
 */
record ClientWindows(MemoryFile file, Mapping mapping, Arena arena, MemorySegment content,
        int count)
        implements
            AutoCloseable {
    private static final long MOST_BYTES = 512 << 20;

    static ClientWindows open(Order order) throws IOException {
        long each = order.windowBytes();
        int count = Math.clamp(MOST_BYTES / each, 1, order.connections());
        Arena arena = Arena.ofShared();
        MemoryFile file = MemoryFile.create("bench", count * each);
        Mapping mapping = file.map();
        mapping.populate();
        try (FileChannel channel = FileChannel.open(order.content())) {
            return new ClientWindows(file, mapping, arena,
                    channel.map(MapMode.READ_ONLY, 0, each, arena), count);
        }
    }

    long windowBytes() {
        return content.byteSize();
    }

    long offset(int request) {
        return request % count * windowBytes();
    }

    MemorySegment at(int request) {
        return mapping.segment().asSlice(offset(request), windowBytes());
    }

    /** Puts the content into each, for a gateway that will read it. */
    void fill() {
        for (int window = 0; window < count; window++) {
            at(window).copyFrom(content);
        }
    }

    /** Throws if a request that was answered has not delivered its bytes. */
    void requireDelivered(int request) throws IOException {
        if (at(request).mismatch(content) != -1) {
            throw new IOException("a delivered object is not in its window");
        }
    }

    /** Throws if one of the first requests has not delivered its bytes. */
    void requireAllDelivered(int requests) throws IOException {
        for (int window = 0; window < Math.min(requests, count); window++) {
            requireDelivered(window);
        }
    }

    @Override
    public void close() {
        mapping.close();
        file.close();
        arena.close();
    }
}
