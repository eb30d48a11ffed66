package io.railhead.gateway.metrics;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The last errors, equal ones as one, those that came least recently forgotten first. Any thread.
 */
public final class RecentErrors {
    private static final int LONGEST = 100;

    private final int most;
    private final ConcurrentMap<Kind, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong();

    /** Fields that make two errors one. */
    private record Kind(String code, int status, String where, String bucket) {}

    /**
     * One of them. Keys are not kept, since they may be secret.
     *
     * @param number of the last one, in the order that they came
     * @param at when the last one came
     * @param requestId of the last one
     * @param times how many came since {@code since}
     * @param code S3's, or {@code cut: } and why a body was broken off, or what is down
     * @param status 0 where no answer was given
     * @param where operation, or the fabric or store that it is about
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

    /** @param most kinds that are kept */
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

    /** The newest first. */
    public List<Entry> newestFirst() {
        return entries.values()
                .stream()
                .sorted(Comparator.comparingLong(Entry::number).reversed())
                .toList();
    }
}
