package io.railhead.cache;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checksums of filled pages, of versions whose own checksum is known: with the last page that
 * was missing there is something to compare it with, and what is evicted later and comes again must
 * come with the same sum. Eight bytes for a page, up to so many; those of versions that were filled
 * or read least recently go first, and are compared once all of them have come again. Any thread.
 */
final class FillChecksums {
    /** Pages: 32 MiB of heap. */
    static final long MOST_PAGES = 1L << 22;
    private static final Logger LOG = LoggerFactory.getLogger(FillChecksums.class);
    private static final int STRIPES = 16;
    /** What a version takes beside its pages' sums, in pages. */
    private static final int VERSION_PAGES = 24;

    final LongAdder matches = new LongAdder();
    final LongAdder mismatches = new LongAdder();

    private final Stripe[] stripes = new Stripe[STRIPES];
    private final int pageBytes;
    private final LinePace lines = new LinePace();

    FillChecksums(int pageBytes, long mostPages) {
        this.pageBytes = pageBytes;
        Arrays.setAll(stripes, i -> new Stripe(mostPages / STRIPES));
    }

    /** Versions of one part of all hashes: by recency, so that what has just begun stays. */
    private final class Stripe {
        private final long most;
        private final Map<ObjectVersion, Sums> recent = new LinkedHashMap<>(16, 0.75f, true);
        private long pages;

        Stripe(long most) {
            this.most = most;
        }

        synchronized @Nullable Sums of(ObjectVersion version, WholeChecksum whole) {
            Sums known = recent.get(version);
            if (known != null) {
                return known;
            }
            long wanted = Math.ceilDiv(version.sizeBytes(), pageBytes) + VERSION_PAGES;
            if (wanted > most) {
                return null;
            }
            Sums made = new Sums(version.sizeBytes(), whole);
            recent.put(version, made);
            pages += wanted;
            Iterator<Sums> oldest = recent.values().iterator();
            while (pages > most) {
                pages -= oldest.next().sums.length + VERSION_PAGES;
                oldest.remove();
            }
            return made;
        }

        synchronized boolean isFetched(ObjectVersion version) {
            Sums known = recent.get(version);
            return known != null && known.isFetched();
        }

        synchronized void remove(ObjectVersion version, Sums sums) {
            if (recent.remove(version, sums)) {
                pages -= sums.sums.length + VERSION_PAGES;
            }
        }
    }

    private Stripe stripe(ObjectVersion version) {
        return stripes[(version.hashCode() * 0x9E3779B9) >>> 28];
    }

    /** Those of a version that has any bytes; null of one that is too large for this. */
    @Nullable
    Sums of(ObjectVersion version, WholeChecksum whole) {
        return stripe(version).of(version, whole);
    }

    /** Tells whether a page of the version has been fetched and held against its sums. */
    boolean isFetched(ObjectVersion version) {
        return stripe(version).isFetched(version);
    }

    /**
     * Bytes of it are wrong: who is held against these must not succeed, and who comes now is, too,
     * until they are dropped. False where that was known.
     */
    boolean tryRefute(ObjectVersion version, Sums wrong) {
        if (!wrong.tryRefute()) {
            return false;
        }
        mismatches.increment();
        if (lines.mayWrite()) {
            LOG.error("an object of {} bytes in bucket {}: its bytes are not those that the"
                    + " store's checksum names; nothing of it is kept", version.sizeBytes(),
                    version.object().bucket());
        }
        return true;
    }

    /** Nothing is there any more that was held against these: who comes now begins anew. */
    void drop(ObjectVersion version, Sums refuted) {
        stripe(version).remove(version, refuted);
    }

    static FillException mismatch() {
        return new FillException(FillException.Reason.CORRUPT,
                "its bytes are not those that the store's checksum names", null);
    }

    /** One version's. */
    final class Sums {
        private final WholeChecksum whole;
        private final long lastBytes;
        private final long[] sums;
        private final BitSet present = new BitSet();
        private int missing;
        private volatile boolean refuted;
        private boolean fetched;

        private Sums(long sizeBytes, WholeChecksum whole) {
            this.whole = whole;
            this.sums = new long[Math.toIntExact(Math.ceilDiv(sizeBytes, pageBytes))];
            this.missing = sums.length;
            this.lastBytes = sizeBytes - (sums.length - 1L) * pageBytes;
        }

        /** A page's, to be computed. */
        Checksum page() {
            return whole.part();
        }

        /** Tells whether this page's sum has been taken; uploaded pages have none at first. */
        synchronized boolean knows(long page) {
            return present.get((int) page);
        }

        /**
         * Notes that a fetched page has agreed. With the first one {@code forget} runs, before
         * {@link #tryKeep} or {@link #agrees} lets another page in.
         */
        synchronized void fetched(Runnable forget) {
            if (!fetched) {
                fetched = true;
                forget.run();
            }
        }

        synchronized boolean isFetched() {
            return fetched;
        }

        /** Whether pages that were handed out may have been wrong. */
        boolean isRefuted() {
            return refuted;
        }

        /**
         * Keeps a page that agreed, unless it came out since that one of them was wrong: whoever
         * forgets them all then has seen it.
         */
        synchronized boolean tryKeep(Runnable keep) {
            if (!refuted) {
                keep.run();
            }
            return !refuted;
        }

        private synchronized boolean tryRefute() {
            boolean first = !refuted;
            refuted = true;
            return first;
        }

        /**
         * Takes a page's sum; false where bytes of it, or of another page, are not the store's: of
         * refuted ones always, since those who begin anew would not know this page's.
         */
        synchronized boolean agrees(long page, long sum) {
            if (refuted) {
                return false;
            }
            int at = (int) page;
            if (present.get(at)) {
                return sums[at] == sum;
            }
            sums[at] = sum;
            present.set(at);
            if (--missing > 0) {
                return true;
            }
            boolean right = whole.isOf(sums, pageBytes, lastBytes);
            if (right) {
                matches.increment();
            }
            return right;
        }
    }
}
