package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.BitSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.Checksum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checksums of filled pages, of versions whose own checksum is known: with the last page that
 * was missing there is something to compare it with, and what is evicted later and comes again must
 * come with the same sum. Eight bytes for a page, up to {@link #MAX_WEIGHT} of them; what is
 * forgotten is compared once all of it has come again. Any thread.
 */
final class FilledSums {
    private static final Logger LOG = LoggerFactory.getLogger(FilledSums.class);
    private static final long MAX_WEIGHT = 1L << 22;
    private static final int VERSION_WEIGHT = 24;

    final LongAdder matches = new LongAdder();
    final LongAdder mismatches = new LongAdder();

    private final Cache<ObjectVersion, Sums> known = Caffeine.newBuilder()
            .executor(Runnable::run)
            .maximumWeight(MAX_WEIGHT)
            .weigher((ObjectVersion version, Sums sums) -> VERSION_WEIGHT + sums.sums.length)
            .build();
    private final int pageBytes;
    private final LinePace lines = new LinePace();

    FilledSums(int pageBytes) {
        this.pageBytes = pageBytes;
    }

    /** Those of a version that has any bytes. */
    Sums of(ObjectVersion version, WholeChecksum whole) {
        return known.get(version, unknown -> new Sums(unknown.sizeBytes(), whole));
    }

    /** Bytes of it are wrong: who reads it now must not succeed, who comes now begins anew. */
    void refute(ObjectVersion version) {
        mismatches.increment();
        if (lines.mayWrite()) {
            LOG.error("an object of {} bytes in bucket {}: its bytes are not those that the"
                    + " store's checksum names; nothing of it is kept", version.sizeBytes(),
                    version.object().bucket());
        }
        Sums wrong = known.asMap().remove(version);
        if (wrong != null) {
            wrong.refuted = true;
        }
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
        private volatile boolean refuted;

        private Sums(long sizeBytes, WholeChecksum whole) {
            this.whole = whole;
            this.sums = new long[Math.toIntExact(Math.ceilDiv(sizeBytes, pageBytes))];
            this.lastBytes = sizeBytes - (sums.length - 1L) * pageBytes;
        }

        /** A page's, to be computed. */
        Checksum page() {
            return whole.part();
        }

        /** Whether pages that were handed out may have been wrong. */
        boolean isRefuted() {
            return refuted;
        }

        /** Takes a page's sum; false where bytes of it, or of another page, are not the store's. */
        synchronized boolean agrees(long page, long sum) {
            int at = (int) page;
            if (present.get(at)) {
                return sums[at] == sum;
            }
            sums[at] = sum;
            present.set(at);
            if (present.cardinality() < sums.length) {
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
