package io.railhead.cache.writeback;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The runs of the file that hold nothing. Its owner guards it. */
final class FreeSpace {
    /** More runs for one write would make its record in the journal long. */
    private static final int MOST_RUNS = 256;

    /** Lengths by place; neighbours are always joined. */
    private final TreeMap<Long, Long> runs = new TreeMap<>();
    private long freeBytes;

    FreeSpace(long at, long bytes) {
        release(new Extent(at, bytes));
    }

    long freeBytes() {
        return freeBytes;
    }

    /**
     * Takes so many bytes, in one run where there is one.
     *
     * @param bytes a multiple of the block's size
     * @return null, with nothing taken, if there is no room
     */
    @Nullable
    List<Extent> tryTake(long bytes) {
        if (bytes > freeBytes) {
            return null;
        }
        List<Extent> taken = choose(bytes);
        if (taken != null) {
            taken.forEach(this::remove);
        }
        return taken;
    }

    private @Nullable List<Extent> choose(long bytes) {
        for (Map.Entry<Long, Long> run : runs.entrySet()) {
            if (run.getValue() >= bytes) {
                return bytes == 0 ? List.of() : List.of(new Extent(run.getKey(), bytes));
            }
        }
        List<Extent> pieces = new ArrayList<>();
        long missing = bytes;
        for (Map.Entry<Long, Long> run : runs.entrySet()) {
            if (missing == 0 || pieces.size() == MOST_RUNS) {
                break;
            }
            long length = Math.min(missing, run.getValue());
            pieces.add(new Extent(run.getKey(), length));
            missing -= length;
        }
        return missing == 0 ? pieces : null;
    }

    /**
     * Takes a run that must be free.
     *
     * @return false if a part of it is not
     */
    boolean tryTake(Extent wanted) {
        Map.Entry<Long, Long> run = runs.floorEntry(wanted.at());
        if (run == null || run.getKey() + run.getValue() < wanted.end()) {
            return false;
        }
        remove(wanted);
        return true;
    }

    private void remove(Extent taken) {
        Map.Entry<Long, Long> run = runs.floorEntry(taken.at());
        if (run == null) {
            throw new IllegalStateException("not free: " + taken);
        }
        long end = run.getKey() + run.getValue();
        runs.remove(run.getKey());
        if (run.getKey() < taken.at()) {
            runs.put(run.getKey(), taken.at() - run.getKey());
        }
        if (taken.end() < end) {
            runs.put(taken.end(), end - taken.end());
        }
        freeBytes -= taken.bytes();
    }

    void release(Extent extent) {
        long at = extent.at();
        long bytes = extent.bytes();
        Map.Entry<Long, Long> before = runs.floorEntry(at);
        if (before != null && before.getKey() + before.getValue() == at) {
            at = before.getKey();
            bytes += before.getValue();
        }
        Long after = runs.remove(extent.end());
        if (after != null) {
            bytes += after;
        }
        runs.put(at, bytes);
        freeBytes += extent.bytes();
    }
}
