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
 * The checksums of filled pages, for versions whose whole checksum is known. When the last missing
 * page has come, the combination is compared with the store's checksum. A page that was evicted and
 * comes again must have the same checksum. Each page takes eight bytes, up to a limit. Versions
 * that were used least recently go first, and are compared again once all their pages have come
 * again. Any thread.
 */
final class FillChecksums {
    /** The limit in pages: 32 MiB of heap. */
    static final long MOST_PAGES = 1L << 22;
    private static final Logger LOG = LoggerFactory.getLogger(FillChecksums.class);
    private static final int STRIPES = 16;
    /** The cost of a version beside its pages' checksums, in pages. */
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

    /** The versions of one part of all hashes, by recency, so that a version just begun stays. */
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

    /** Returns the checksums of a version that has bytes; null if the version is too large. */
    @Nullable
    Sums of(ObjectVersion version, WholeChecksum whole) {
        return stripe(version).of(version, whole);
    }

    /** Returns whether a page of the version has been fetched and compared. */
    boolean isFetched(ObjectVersion version) {
        return stripe(version).isFetched(version);
    }

    /**
     * Marks a version's bytes as wrong. Fills that compare with these checksums then fail, new ones
     * too until {@link #drop}. Returns false if the version was marked before.
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

    /**
     * Drops refuted checksums once no page that was compared with them is cached; later fills start
     * anew.
     */
    void drop(ObjectVersion version, Sums refuted) {
        stripe(version).remove(version, refuted);
    }

    static FillException mismatch() {
        return new FillException(FillException.Reason.CORRUPT,
                "its bytes are not those that the store's checksum names", null);
    }

    /** The checksums of one version. */
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

        /** Returns a new checksum for one page. */
        Checksum page() {
            return whole.part();
        }

        /** Returns whether this page's checksum is known; uploaded pages have none at first. */
        synchronized boolean knows(long page) {
            return present.get((int) page);
        }

        /**
         * Notes that a fetched page has matched. At the first one {@code forget} runs, before
         * {@link #tryKeep} or {@link #agrees} admits another page.
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

        /** Returns whether pages that were handed out may be wrong. */
        boolean isRefuted() {
            return refuted;
        }

        /**
         * Caches a page that matched, unless the version was refuted since. The lock orders this
         * before the eviction of all pages, which then sees the page.
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
         * Takes a page's checksum. Returns false if bytes of this or another page are wrong. Always
         * false once refuted: a fresh start would not know this page's checksum.
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
