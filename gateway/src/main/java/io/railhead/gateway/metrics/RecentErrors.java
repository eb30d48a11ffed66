package io.railhead.gateway.metrics;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The latest errors; equal ones share an entry, and the least recent entries are dropped first. Any
 * thread.
 */
public final class RecentErrors {
    private static final int LONGEST = 100;

    private final int most;
    private final ConcurrentMap<Kind, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong();

    /** The fields that make errors equal. */
    private record Kind(String code, int status, String where, String bucket) {}

    /**
     * An entry of equal errors. Keys are not kept, since they may be secret.
     *
     * @param number of the latest error, in order of occurrence
     * @param at the time of the latest error
     * @param requestId of the latest error
     * @param times the number of errors since {@code since}
     * @param code S3's code, or {@code cut: } with the reason of a broken body, or what is down
     * @param status 0 without a response
     * @param where the operation, fabric or store
     * @param bucket "" if none was named
     */
    public record Entry(long number, Instant at, String requestId, long times, Instant since,
            String code, int status, String where, String bucket) {

        private Entry then(Entry later) {
            Entry last = later.number > number ? later : this;
            return new Entry(last.number, last.at, last.requestId, times + 1, since, code, status,
                    where, bucket);
        }
    }

    /** @param most the most entries */
    public RecentErrors(int most) {
        this.most = most;
    }

    public void add(String requestId, String code, int status, String where, String bucket) {
        Instant now = Instant.now();
        Entry entry = new Entry(next.getAndIncrement(), now, requestId, 1, now, shortened(code),
                status, shortened(where), shortened(bucket));
        entries.merge(new Kind(entry.code, status, entry.where, entry.bucket), entry, Entry::then);
        while (entries.size() > most) {
            entries.values()
                    .stream()
                    .min(Comparator.comparingLong(Entry::number))
                    .ifPresent(entries.values()::remove);
        }
    }

    private static String shortened(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }

    /** Returns the entries, the newest first. */
    public List<Entry> newestFirst() {
        return entries.values()
                .stream()
                .sorted(Comparator.comparingLong(Entry::number).reversed())
                .toList();
    }
}
