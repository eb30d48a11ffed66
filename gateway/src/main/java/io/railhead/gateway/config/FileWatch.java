package io.railhead.gateway.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few small files that belong together, read again when the content of one has changed. Unusable
 * content leaves the earlier content in force.
 *
 * <p> The content itself is compared once a second, and used when two readings agree. Times and
 * inodes do not show every replacement: a projected Kubernetes secret swaps a link two levels up.
 */
public final class FileWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FileWatch.class);
    private static final int MAX_BYTES = 16 << 20;

    private final String key;
    private final Supplier<List<Path>> files;
    private final User user;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Outcome outcome = _ -> {};
    /** The last content read, usable or not. Guarded by this object's monitor. */
    private List<byte[]> lastSeen = List.of();
    /**
     * The content a second ago; empty if it could not be read. Guarded by this object's monitor.
     */
    private List<byte[]> glimpsed = List.of();

    /** Takes the files' content, in order; throws one line with the fault. */
    @FunctionalInterface
    public interface User {
        void use(List<byte[]> contents) throws ConfigException;
    }

    /** Learns of each changed content whether it is in force. */
    @FunctionalInterface
    public interface Outcome {

        /** @param refusal why it is not, in one line; "" if it is */
        void reloaded(String refusal);
    }

    /**
     * Creates a watch of files that are not read yet.
     *
     * @param key the configuration's key, for messages
     * @param user called by the thread that loads or looks, one at a time
     */
    public FileWatch(String key, List<Path> files, User user) {
        this(key, List.copyOf(files)::stream, user);
    }

    /** @param files looked up each time: the list may depend on the files' content */
    public FileWatch(String key, Supplier<Stream<Path>> files, User user) {
        this.key = key;
        this.files = () -> files.get().toList();
        this.user = user;
    }

    /**
     * Passes the content on now, and after each change, on a virtual thread. Blocks.
     *
     * @throws IllegalArgumentException if it cannot be read or used now
     */
    public static FileWatch start(String key, List<Path> files, User user, Outcome outcome) {
        FileWatch watch = new FileWatch(key, files, user);
        try {
            watch.load();
        } catch (ConfigException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        watch.tell(outcome);
        watch.watch();
        return watch;
    }

    /** Passes the content on for the first time. Blocks. */
    public synchronized void load() throws ConfigException {
        try {
            lastSeen = read();
        } catch (IOException e) {
            throw new ConfigException(key + ": cannot be read: " + e.getMessage());
        }
        user.use(lastSeen);
    }

    /** Passes the content on; if it cannot be used, the earlier content stays in force. Blocks. */
    public synchronized void loadOrWarn() {
        try {
            load();
        } catch (ConfigException | RuntimeException | Error e) {
            failed(e);
        }
    }

    /** Sets the listener of changes, called on the reading thread. */
    public void tell(Outcome listener) {
        outcome = listener;
    }

    /** Starts reading once a second, on a virtual thread, until closed. */
    public void watch() {
        Thread.ofVirtual().name(key + "-watch").start(this::watchUntilClosed);
    }

    private List<byte[]> read() throws IOException {
        List<byte[]> contents = new ArrayList<>();
        for (Path file : files.get()) {
            if (Files.size(file) > MAX_BYTES) {
                throw new IOException(file + " is larger than " + MAX_BYTES + " bytes");
            }
            contents.add(Files.readAllBytes(file));
        }
        return contents;
    }

    private void watchUntilClosed() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                glance();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Uses the content if it equals that of the last glance: a file that is being written still
     * changes.
     */
    synchronized void glance() {
        List<byte[]> now;
        try {
            now = read();
        } catch (IOException e) {
            now = List.of();
        }
        boolean stays = isSame(now, glimpsed);
        glimpsed = now;
        if (stays) {
            look();
        }
    }

    /** Reads the files now. Blocks. The watch survives any content. */
    public synchronized void look() {
        try {
            List<byte[]> contents = read();
            if (!isSame(contents, lastSeen)) {
                use(contents);
            }
        } catch (IOException | ConfigException | RuntimeException | Error e) {
            failed(e);
        }
    }

    private void use(List<byte[]> contents) throws ConfigException {
        lastSeen = contents;
        user.use(contents);
        LOG.info("{}: reloaded", key);
        outcome.reloaded("");
    }

    /** Uses the current content, changed or not, on request. Blocks. */
    public synchronized void reread() {
        try {
            use(read());
        } catch (IOException | ConfigException | RuntimeException | Error e) {
            failed(e);
        }
    }

    private static boolean isSame(List<byte[]> some, List<byte[]> others) {
        return some.size() == others.size() && IntStream.range(0, some.size())
                .allMatch(i -> Arrays.equals(some.get(i), others.get(i)));
    }

    /** Reports a failure. A missing file, as during a replacement, is reported once. */
    private void failed(Throwable cause) {
        if (cause instanceof IOException) {
            if (lastSeen.isEmpty()) {
                return;
            }
            lastSeen = List.of();
        }
        String why = message(cause);
        LOG.warn("{}: stays as it was: {}", key, why);
        outcome.reloaded(why);
    }

    private static String message(Throwable cause) {
        return cause instanceof IOException || cause.getMessage() == null
                ? cause.toString()
                : cause.getMessage();
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
