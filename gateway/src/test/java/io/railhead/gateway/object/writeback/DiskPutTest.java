package io.railhead.gateway.object.writeback;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.Payload;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.writeback.LogOwner;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.os.RequiresDirectFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bodies that arrive faster than the disk takes them. */
@RequiresDirectFiles
final class DiskPutTest {
    /** Many times what an upload holds in memory, so that its last piece waits for the disk. */
    private static final int LENGTH = (16 << 20) + 100;

    @TempDir
    private Path folder;
    private final PageMemory memory = PageMemory
            .open(new MemoryConfig(1 << 20, 64 << 10, 0, false), slab -> {});
    private final ObjectCache cache = new ObjectCache(memory, CacheConfig.DEFAULT,
            System::nanoTime);
    private WriteLog log;
    private WriteBack writeBack;

    @BeforeEach
    void open() throws Exception {
        log = WriteLog.open(folder.resolve("log").toString(), WriteLog.leastBytes());
        writeBack = new WriteBack(log, cache.writes(),
                new WriteBack.Bounds(Duration.ofSeconds(1), 0, 100), InstantSource.system(),
                System::nanoTime, _ -> null);
        writeBack.start(_ -> null);
    }

    @AfterEach
    void close() {
        writeBack.close();
        cache.close();
        memory.close();
    }

    @Test
    void aBodyThatEndsBeforeTheDiskHasItsLastPieceIsAcknowledged() throws Exception {
        byte[] bytes = new byte[LENGTH];
        new Random(1).nextBytes(bytes);
        LogUpload upload = requireNonNull(log.tryBegin(LogOwner.NOBODY, LENGTH));
        LogRecord.Head head = new LogRecord.Head("trainer", "account",
                PendingName.of("store", "bucket", "key"), Map.of());
        BackendResponse answer = new DiskPut(writeBack, head,
                new Payload.Bytes(ByteBuffer.wrap(bytes)), upload).start()
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers().get("etag")).isEqualTo('"' + HexFormat.of()
                .formatHex(MessageDigest.getInstance("MD5").digest(bytes)) + '"');
    }
}
