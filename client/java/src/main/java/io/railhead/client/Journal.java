package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Lines beside a file about a transfer of it, which outlive the process: one call at a time has
 * them. Where there are none, nothing stays. Not thread-safe.
 */
final class Journal implements Closeable {
    private final Path path;
    private final FileChannel channel;

    private Journal(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /** The hidden name beside a file that something about it has. */
    static Path beside(Path file, String suffix) {
        return file.resolveSibling("." + file.getFileName() + suffix);
    }

    /**
     * Waits for nobody who has it.
     *
     * @param taken what is said where somebody has
     */
    static Journal open(Path path, String taken) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE);
        boolean alone = false;
        try {
            // The lock goes with the channel; who has finished has removed the file under it.
            alone = tryLock(channel) && Files.exists(path);
        } finally {
            if (!alone) {
                channel.close();
            }
        }
        if (!alone) {
            throw new IOException(taken);
        }
        return new Journal(path, channel);
    }

    private static boolean tryLock(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    /** Those that are whole; one that was not finished is removed. */
    List<String> lines() throws IOException {
        ByteBuffer read = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        while (read.hasRemaining() && channel.read(read, read.position()) >= 0) {
            // Until it is all here.
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
        }
    }
}
