package io.railhead.cache;

import io.railhead.cache.ReadStream.Stretch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The sequential reads of one version by one principal: several workers may read at a time, each
 * from its own position. Any thread; the lock is held for a few comparisons.
 */
final class ReadStreams {
    private static final int MAX = 8;
    /** A format whose readers take the header first, and then the whole rest. */
    private static final String SAFETENSORS = ".safetensors";

    private final long sizeBytes;
    private final boolean sweeps;
    /** In order of use, the most recent first. */
    private final List<ReadStream> streams = new ArrayList<>(1);

    ReadStreams(ObjectVersion version) {
        sizeBytes = version.sizeBytes();
        sweeps = version.object().key().endsWith(SAFETENSORS);
    }

    /**
     * Notes a read, and returns the bytes to fetch now with their stream; null for none.
     *
     * @param there whether a byte of the object is cached or being fetched
     */
    synchronized @Nullable Wanted read(long from, long to, long maxWindowBytes,
            LongPredicate there) {
        ReadStream stream = find(from, to);
        stream.read(from, to);
        stream.look(there);
        Stretch stretch = stream.take(maxWindowBytes);
        return stretch == null ? null : new Wanted(stream, stretch);
    }

    /**
     * Notes a read as {@link #read} does, and returns whether a fetch is due, which it leaves to
     * {@link #read}.
     */
    synchronized boolean passed(long from, long to) {
        ReadStream stream = find(from, to);
        stream.read(from, to);
        return stream.wants();
    }

    record Wanted(ReadStream stream, Stretch stretch) {}

    private ReadStream find(long from, long to) {
        for (int i = 0; i < streams.size(); i++) {
            if (streams.get(i).continues(from, to)) {
                ReadStream found = streams.remove(i);
                streams.addFirst(found);
                return found;
            }
        }
        if (streams.size() == MAX) {
            streams.removeLast();
        }
        ReadStream fresh = new ReadStream(sizeBytes, sweeps && from == 0, from);
        streams.addFirst(fresh);
        return fresh;
    }

    synchronized void gaveUp(ReadStream stream, long at) {
        stream.gaveUp(at);
    }
}
