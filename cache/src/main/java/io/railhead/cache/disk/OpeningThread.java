package io.railhead.cache.disk;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file or device that is being opened on a thread of its own, which may take for ever. */
final class OpeningThread {
    private static final Logger LOG = LoggerFactory.getLogger(DiskTier.class);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final String path;
    private final Thread thread;
    private final long since = System.nanoTime();
    private boolean told;

    OpeningThread(String path, Runnable open) {
        this.path = path;
        this.thread = Thread.ofPlatform().daemon().name("railhead-disk-open").unstarted(open);
    }

    void start() {
        thread.start();
    }

    /** Says once that it takes long. The watch's thread only. */
    void watch() {
        if (!told && thread.isAlive() && System.nanoTime() - since > PATIENCE.toNanos()) {
            told = true;
            LOG.error("The disk tier goes on without {}: it did not open within {} s", path,
                    PATIENCE.toSeconds());
        }
    }
}
