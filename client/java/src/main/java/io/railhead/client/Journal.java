package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Lines beside a file about a transfer of it, which outlive the process. One call at a time has the
 * journal. An empty journal leaves no file. Not thread-safe.
 */
final class Journal implements Closeable {
    /**
     * The journals that this process has open. No second descriptor of a locked file may be opened:
     * closing that one would release the lock.
     */
    private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

    private static final int MOST_MARKED = 1 << 20;

    private final Path path;
    private final FileChannel channel;

    private Journal(Path ourPath, FileChannel channel) {
        this.path = ourPath;
        this.channel = channel;
    }

    /** Returns the hidden name beside a file for a purpose. */
    static Path beside(Path file, String suffix) {
        return file.resolveSibling("." + file.getFileName() + suffix);
    }

    /**
     * Opens a journal, without waiting for another holder.
     *
     * @param taken the error's message if there is another holder
     */
    static Journal open(Path path, String taken) throws IOException {
        Path real = path.resolveSibling("").toRealPath().resolve(path.getFileName());
        FileChannel channel = null;
        if (OURS.add(real)) {
            try {
                channel = tryOpen(real);
            } finally {
                if (channel == null) {
                    OURS.remove(real);
                }
            }
        }
        if (channel == null) {
            throw new IOException(taken);
        }
        return new Journal(real, channel);
    }

    /** Returns a channel that is locked until it is closed; null if another process has it. */
    private static @Nullable FileChannel tryOpen(Path path) throws IOException {
        while (true) {
            FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE,
                    StandardOpenOption.READ, StandardOpenOption.WRITE);
            boolean alone = false;
            try {
                if (channel.tryLock() == null) {
                    return null;
                }
                // The last holder has deleted the file, and another process may have created a new
                // one.
                alone = isAt(path, channel);
                if (alone) {
                    return channel;
                }
            } finally {
                if (!alone) {
                    channel.close();
                }
            }
        }
    }

    /**
     * Returns whether the path still names the locked file. A file's number does not tell, since a
     * new file may get it. So the locked file is extended to an unusual length for a moment,
     * without adding a line.
     */
    private static boolean isAt(Path path, FileChannel locked) throws IOException {
        long size = locked.size();
        long marked = size + 1 + ThreadLocalRandom.current().nextInt(MOST_MARKED);
        locked.write(ByteBuffer.allocate(1), marked - 1);
        try {
            return Files.size(path) == marked;
        } catch (NoSuchFileException _) {
            return false;
        } finally {
            locked.truncate(size);
        }
    }

    /** Returns the whole lines; an unfinished one is removed. */
    List<String> lines() throws IOException {
        ByteBuffer read = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        while (read.hasRemaining() && channel.read(read, read.position()) >= 0) {
            // Reads until everything has come.
        }
        int end = read.flip().limit();
        while (end > 0 && read.get(end - 1) != '\n') {
            end--;
        }
        channel.truncate(end);
        return UTF_8.decode(read.limit(end)).toString().lines().toList();
    }

    void append(List<String> lines) throws IOException {
        ByteBuffer text = UTF_8.encode(String.join("\n", lines) + "\n");
        while (text.hasRemaining()) {
            channel.write(text, channel.size());
        }
    }

    boolean isEmpty() throws IOException {
        return channel.size() == 0;
    }

    void clear() throws IOException {
        channel.truncate(0);
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            if (isEmpty()) {
                Files.deleteIfExists(path);
            }
        } finally {
            OURS.remove(path);
        }
    }
}
