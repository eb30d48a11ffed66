package io.railhead.gateway.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file whose changes take effect while the gateway runs. What it was last good for stays in force
 * where a change cannot be used.
 *
 * <p> The content itself is compared, once a second: such files are small, and neither times nor
 * inodes tell all the ways files are replaced (a projected Kubernetes secret swaps a link two
 * levels up).
 */
public final class WatchedFile<T> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WatchedFile.class);
    private static final int MAX_BYTES = 16 << 20;

    private final String what;
    private final Path file;
    private final Parser<T> parser;
    private final Consumer<T> onChange;
    private final AtomicLong failures = new AtomicLong();
    private volatile FileWatch.Outcome outcome = usable -> {};
    private final AtomicBoolean watching = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);
    /** What was read last, usable or not; null while the file cannot be read. Guarded by this. */
    private byte @Nullable [] lastSeen;

    /** Makes something of a file's bytes. */
    @FunctionalInterface
    public interface Parser<T> {
        T parse(Path file, byte[] content) throws ConfigException;
    }

    /**
     * A file not read yet.
     *
     * @param what for the log, such as "credentials"
     * @param onChange is given each new reading after {@link #load}'s, on the thread that reads
     */
    public WatchedFile(String what, Path file, Parser<T> parser, Consumer<T> onChange) {
        this.what = what;
        this.file = file;
        this.parser = parser;
        this.onChange = onChange;
    }

    /** Reads it for the first time. Blocks. */
    public synchronized T load() throws ConfigException {
        try {
            byte[] content = read();
            lastSeen = content;
            return parser.parse(file, content);
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e.getMessage());
        }
    }

    private byte[] read() throws IOException {
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException("larger than " + MAX_BYTES + " bytes");
        }
        return Files.readAllBytes(file);
    }

    /** Starts looking at the file once a second, on a virtual thread, until closed. */
    public void watch() {
        if (watching.compareAndSet(false, true)) {
            Thread.ofVirtual().name(what + "-watch").start(this::watchUntilClosed);
        }
    }

    private void watchUntilClosed() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                reloadAtAllCosts();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The watch must outlive whatever a file can hold. */
    private void reloadAtAllCosts() {
        try {
            reload();
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    /** Looks at the file now. Blocks. */
    public synchronized void reload() {
        try {
            byte[] content = read();
            if (Arrays.equals(content, lastSeen)) {
                return;
            }
            lastSeen = content;
            onChange.accept(parser.parse(file, content));
            outcome.reloaded(true);
        } catch (ConfigException e) {
            failed(e);
        } catch (IOException e) {
            if (lastSeen != null) {
                lastSeen = null;
                failed(e);
            }
        }
    }

    private void failed(Exception e) {
        failures.incrementAndGet();
        LOG.warn("{} stay as they were: {}", what, e.getMessage());
        outcome.reloaded(false);
    }

    /** Who is told of each change, on the thread that reads, whether it could be used. */
    public void tell(FileWatch.Outcome listener) {
        outcome = listener;
    }

    /** How often a changed file could not be used. */
    public long failures() {
        return failures.get();
    }

    /** Stops looking at the file. */
    @Override
    public void close() {
        closed.countDown();
    }
}
