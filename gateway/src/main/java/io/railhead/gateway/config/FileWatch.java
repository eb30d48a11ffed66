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
 * A few small files that belong together, read again when the content of one has changed. Content
 * that cannot be used leaves what was read before in force.
 *
 * <p> The content itself is compared, once a second, and used when it was the same twice: neither
 * times nor inodes tell all the ways files are replaced (a projected Kubernetes secret swaps a link
 * two levels up).
 */
public final class FileWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FileWatch.class);
    private static final int MAX_BYTES = 16 << 20;

    private final String key;
    private final Supplier<List<Path>> files;
    private final User user;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Outcome outcome = _ -> {};
    /** What was seen last, usable or not. Guarded by this. */
    private List<byte[]> lastSeen = List.of();
    /** What was there a second ago; nothing where it could not be read. Guarded by this. */
    private List<byte[]> glimpsed = List.of();

    /** Takes the files' content, in order; throws in one line what is wrong with it. */
    @FunctionalInterface
    public interface User {
        void use(List<byte[]> contents) throws ConfigException;
    }

    /** Is told of each changed content whether it could be used. */
    @FunctionalInterface
    public interface Outcome {

        /** @param refusal why it could not, in one line; "" where it is in force */
        void reloaded(String refusal);
    }

    /**
     * Files not read yet.
     *
     * @param key of the configuration, for messages
     * @param user is called by whoever loads or looks, one at a time
     */
    public FileWatch(String key, List<Path> files, User user) {
        this(key, List.copyOf(files)::stream, user);
    }

    /** @param files looked up anew each time: which they are may follow from what they hold */
    public FileWatch(String key, Supplier<Stream<Path>> files, User user) {
        this.key = key;
        this.files = () -> files.get().toList();
        this.user = user;
    }

    /**
     * Hands the content over now, and then whenever it has changed, on a virtual thread. Blocks.
     *
     * @throws IllegalArgumentException where it cannot be read or used now
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

    /** Hands the content over for the first time. Blocks. */
    public synchronized void load() throws ConfigException {
        try {
            lastSeen = read();
        } catch (IOException e) {
            throw new ConfigException(key + ": cannot be read: " + e.getMessage());
        }
        user.use(lastSeen);
    }

    /** The same where something was handed over before, which stays in force if need be. Blocks. */
    public synchronized void loadOrWarn() {
        try {
            load();
        } catch (ConfigException | RuntimeException | Error e) {
            failed(e);
        }
    }

    /** Who is told of each change, on the thread that looks. */
    public void tell(Outcome listener) {
        outcome = listener;
    }

    /** Starts looking once a second, on a virtual thread, until closed. */
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

    /** Looks if they are as they were the last time: what is being written will be another. */
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

    /** Looks at the files now. Blocks. The watch outlives whatever they hold. */
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

    /** Uses the files as they are now, changed or not: somebody asked for it. Blocks. */
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

    /** A file that is away, as while it is replaced, is said once. */
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
