package io.railhead.gateway.auth;

import io.railhead.gateway.config.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code credentials.yaml} as it stands now. Lookups: any thread, never block. A file that cannot
 * be used leaves what was read before in force.
 *
 * <p> The content itself is compared, once a second: it is small, and neither times nor inodes tell
 * all the ways files are replaced (a projected Kubernetes secret swaps a link two levels up).
 */
public final class CredentialStore implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CredentialStore.class);
    private static final int MAX_BYTES = 16 << 20;

    private final Path file;
    private final List<Consumer<CredentialChange>> listeners = new CopyOnWriteArrayList<>();
    private final AtomicLong reloadFailures = new AtomicLong();
    private final AtomicBoolean watching = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Credentials current;
    /** What was read last, usable or not; null while the file cannot be read. Guarded by this. */
    private byte @Nullable [] lastSeen;

    private CredentialStore(Path file, byte[] content, Credentials current) {
        this.file = file;
        this.lastSeen = content;
        this.current = current;
    }

    /** Reads the file for the first time. Blocks. */
    public static CredentialStore load(Path file) throws ConfigException {
        try {
            byte[] content = read(file);
            return new CredentialStore(file, content, Credentials.parse(file, content));
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e.getMessage());
        }
    }

    private static byte[] read(Path file) throws IOException {
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException("larger than " + MAX_BYTES + " bytes");
        }
        return Files.readAllBytes(file);
    }

    /** Who has this access key, or null. */
    public @Nullable Identity find(String accessKeyId) {
        return current.find(accessKeyId);
    }

    /** All of them, in file order. */
    public List<Principal> principals() {
        return current.principals();
    }

    /** Things that are allowed but that the site should know, one line each. */
    public List<String> warnings() {
        return current.warnings();
    }

    /** Called after each reload that took something away, on the thread that reloaded. */
    public void onChange(Consumer<CredentialChange> listener) {
        listeners.add(listener);
    }

    /** Starts looking at the file once a second, on a virtual thread, until closed. */
    public void watch() {
        if (watching.compareAndSet(false, true)) {
            Thread.ofVirtual().name("credentials-watch").start(this::watchUntilClosed);
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
            byte[] content = read(file);
            if (Arrays.equals(content, lastSeen)) {
                return;
            }
            lastSeen = content;
            replace(Credentials.parse(file, content));
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
        reloadFailures.incrementAndGet();
        LOG.warn("credentials stay as they were: {}", e.getMessage());
    }

    private void replace(Credentials next) {
        CredentialChange change = current.until(next);
        current = next;
        LOG.info("credentials reloaded: {} principals", next.principals().size());
        if (!change.isEmpty()) {
            listeners.forEach(listener -> tell(listener, change));
        }
    }

    /** One listener's failure must not keep another's sessions alive. */
    private static void tell(Consumer<CredentialChange> listener, CredentialChange change) {
        try {
            listener.accept(change);
        } catch (RuntimeException e) {
            LOG.error("a listener failed on changed credentials", e);
        }
    }

    /** How often a changed file could not be used. */
    public long reloadFailures() {
        return reloadFailures.get();
    }

    /** Stops looking at the file. */
    @Override
    public void close() {
        closed.countDown();
    }
}
