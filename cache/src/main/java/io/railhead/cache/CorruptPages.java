package io.railhead.cache;

import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts and logs pages whose bytes have changed in memory. Any thread. */
final class CorruptPages {
    private static final Logger LOG = LoggerFactory.getLogger(CorruptPages.class);

    private final LongAdder atRead = new LongAdder();
    private final LongAdder atScrub = new LongAdder();
    private final LongAdder scrubbedBytes = new LongAdder();
    private final LinePace lines = new LinePace();

    /** Counts a corrupt page that a read found, and that is evicted. */
    void read(PageKey key) {
        atRead.increment();
        log(key);
    }

    /** Counts a corrupt page that the scrubber found, and that is evicted. */
    void scrubbed(PageKey key) {
        atScrub.increment();
        log(key);
    }

    void looked(int bytes) {
        scrubbedBytes.add(bytes);
    }

    private void log(PageKey key) {
        if (lines.mayWrite()) {
            LOG.error("page {} of an object of {} bytes in bucket {}: its bytes have changed in"
                    + " memory; it is evicted", key.index(), key.version().sizeBytes(),
                    key.version().object().bucket());
        }
    }

    Verification.Counts counts() {
        return new Verification.Counts(atRead.sum(), atScrub.sum(), scrubbedBytes.sum());
    }
}
