package io.railhead.gateway.cluster;

import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.PageSlice;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a run that memory has now, from its start up to the first that is missing. They are
 * leased until they were handed over or {@link #cancel} is called. Nothing waits for a fill, a
 * disk, a store or another member. One thread at a time.
 */
final class HeldPages implements RangeReader {
    private final Deque<PageSlice> leased = new ArrayDeque<>();
    private final RangeReader.Sink sink;
    private final long to;
    private long at;
    private boolean isCancelled;

    /** Leases what is there of bytes {@code [from, to)}. */
    HeldPages(ObjectCache cache, ObjectVersion version, long from, long to,
            RangeReader.Sink sink) {
        this.sink = sink;
        this.to = to;
        this.at = from;
        long leasedTo = from;
        while (leasedTo < to) {
            @Nullable
            PageSlice[] page = new PageSlice[1];
            long end = Math.min(to, leasedTo + cache.pageBytes());
            PageSlice slice = cache.tryLease(version, leasedTo, end, page) == 1 ? page[0] : null;
            if (slice == null) {
                return;
            }
            leased.add(slice);
            leasedTo = end;
        }
    }

    boolean isEmpty() {
        return leased.isEmpty();
    }

    @Override
    public void start() {
        while (!isCancelled && !leased.isEmpty()) {
            PageSlice next = leased.remove();
            at += next.length();
            sink.slice(next);
        }
        if (!isCancelled) {
            end();
        }
    }

    private void end() {
        if (at == to) {
            sink.end();
        } else {
            sink.failed(new FillException(FillException.Reason.NOT_FOUND, "not held", null), at);
        }
    }

    @Override
    public void cancel() {
        isCancelled = true;
        leased.forEach(PageSlice::close);
        leased.clear();
    }
}
