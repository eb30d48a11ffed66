package io.railhead.cache.writeback;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A small log over a disk in memory, and short ways to use it. */
final class LogRig {
    static final int CHUNK = 8192;
    static final int HALF = 64 << 10;
    static final int FILE = 1 << 20;
    static final LogLayout LAYOUT = new LogLayout(FILE, HALF, CHUNK);

    private LogRig() {}

    static WriteLog open(PowerCutDisk disk) {
        return WriteLog.open(disk, LAYOUT);
    }

    /** Returns the bytes that belong to a description. */
    static byte[] bytesOf(String name, int length) {
        byte[] bytes = new byte[length];
        new Random(name.hashCode()).nextBytes(bytes);
        return bytes;
    }

    static LogUpload upload(WriteLog log, byte[] bytes) {
        LogUpload upload = log.tryBegin(LogOwner.NOBODY, bytes.length);
        if (upload == null) {
            throw new AssertionError("no room");
        }
        await(upload.take(ByteBuffer.wrap(bytes)));
        await(upload.finish());
        return upload;
    }

    static CompletionStage<List<LogEntry>> put(WriteLog log, String name, int length) {
        return put(log, name, length, name + ":" + length);
    }

    /** @param described name and length, and what else may follow, separated by colons */
    static CompletionStage<List<LogEntry>> put(WriteLog log, String name, int length,
            String described) {
        try (LogUpload upload = upload(log, bytesOf(name, length))) {
            return log.commit(List.of(new WriteLog.Draft("", upload,
                    described.getBytes(StandardCharsets.UTF_8))), List.of());
        }
    }

    static String name(LogEntry entry) {
        return new String(entry.description(), StandardCharsets.UTF_8);
    }

    static byte[] read(WriteLog log, LogEntry entry) {
        ByteBuffer all = ByteBuffer.allocate((int) entry.lengthBytes());
        try (LogReader reader = log.tryRead(List.of(entry))) {
            if (reader == null) {
                throw new AssertionError("removed: " + name(entry));
            }
            while (all.hasRemaining()) {
                all.put(await(reader.read(all.position(), all.remaining())));
            }
        }
        return all.array();
    }

    /** Throws unless the entry has the bytes that belong to its description. */
    static void requireWhole(WriteLog log, LogEntry entry) {
        String[] parts = name(entry).split(":", -1);
        byte[] wanted = bytesOf(parts[0], Integer.parseInt(parts[1]));
        if (!java.util.Arrays.equals(read(log, entry), wanted)) {
            throw new AssertionError("other bytes: " + name(entry));
        }
    }

    static <T extends @Nullable Object> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e);
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new AssertionError(e);
        }
    }
}
