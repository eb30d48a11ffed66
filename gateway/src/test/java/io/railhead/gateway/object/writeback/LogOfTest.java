package io.railhead.gateway.object.writeback;

import static java.util.Objects.requireNonNull;

import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.writeback.FailingDisk;
import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.LogOwner;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.cache.writeback.WriteLog;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A real log on a disk in memory, and writes that are pending in it. */
final class LogOfTest implements AutoCloseable {
    private final PageMemory memory = PageMemory
            .open(new MemoryConfig(1 << 20, 64 << 10, 0, false), slab -> {});
    final ObjectCache cache = new ObjectCache(memory, CacheConfig.DEFAULT, System::nanoTime);
    final FailingDisk disk = new FailingDisk();
    final WriteLog log = disk.open();

    static <T extends @Nullable Object> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    static LogRecord.Head head(String bucket, String key) {
        return new LogRecord.Head("trainer", "site", PendingName.of("store", bucket, key),
                Map.of());
    }

    LogUpload upload(byte[] bytes) throws Exception {
        LogUpload upload = requireNonNull(log.tryBegin(LogOwner.NOBODY, bytes.length), "no room");
        await(upload.take(ByteBuffer.wrap(bytes)));
        await(upload.finish());
        return upload;
    }

    PendingWrite put(String key, byte[] bytes) throws Exception {
        LogUpload upload = upload(bytes);
        LogRecord.Head head = head("ckpt", key);
        String etag = '"' + HexFormat.of().formatHex(upload.md5()) + '"';
        LogRecord.Write write = new LogRecord.Write(head, etag, 0);
        try (upload) {
            LogEntry entry = await(log.commit(
                    List.of(new WriteLog.Draft("", upload, write.encoded())), List.of()))
                    .getFirst();
            return new PendingWrite(write, entry, cache.writes());
        }
    }

    @Override
    public void close() {
        log.close();
        cache.close();
        memory.close();
    }
}
