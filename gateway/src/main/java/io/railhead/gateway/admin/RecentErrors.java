package io.railhead.gateway.admin;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The last errors, oldest forgotten first. Any thread, no lock: errors may come in storms. */
public final class RecentErrors {
    private static final int LONGEST = 100;

    private final AtomicReferenceArray<Entry> ring;
    private final AtomicLong next = new AtomicLong();

    /**
     * One of them. Keys are not kept, since they may be secret.
     *
     * @param code S3's, or {@code cut: } and why a body was broken off, or what is down
     * @param status 0 where no answer was given
     * @param where operation, or the fabric or store that it is about
     * @param bucket "" if none was named
     */
    public record Entry(long number, Instant at, String requestId, String code, int status,
            String where, String bucket) {}

    public RecentErrors(int most) {
        ring = new AtomicReferenceArray<>(most);
    }

    public void add(String requestId, String code, int status, String where, String bucket) {
        long number = next.getAndIncrement();
        ring.set((int) (number % ring.length()), new Entry(number, Instant.now(), requestId,
                shortened(code), status, shortened(where), shortened(bucket)));
    }

    private static String shortened(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }

    /** The newest first. */
    public List<Entry> newestFirst() {
        List<Entry> entries = new ArrayList<>(ring.length());
        for (int i = 0; i < ring.length(); i++) {
            Entry entry = ring.get(i);
            if (entry != null) {
                entries.add(entry);
            }
        }
        entries.sort(Comparator.comparingLong(Entry::number).reversed());
        return entries;
    }
}
