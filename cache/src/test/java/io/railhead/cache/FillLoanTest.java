package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.LentMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A fill whose pages are placed in memory that it lends. */
final class FillLoanTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final CacheRig rig = CacheRig.of(leaks, 16);
    private final byte[] content = CacheRig.random(1, 2 * PAGE - 100);
    private final ObjectVersion version = new ObjectVersion(CacheRig.id("key"), "\"1\"", "",
            content.length);
    private final AtomicReference<PageSource.@Nullable Sink> begun = new AtomicReference<>();

    private Received read() {
        Received received = Received.closing();
        rig.read(version, 0, content.length, io.railhead.cache.memory.PageMemory.Pool.CACHE,
                (version, offset, length, sink) -> begun.set(sink), received);
        CacheRig.await(() -> begun.get() != null);
        return received;
    }

    private static void place(LentMemory lent, byte[] bytes, int from) {
        int at = from;
        for (MemorySegment segment : lent.segments()) {
            int count = (int) Math.min(segment.byteSize(), from + lent.length() - at);
            MemorySegment.copy(MemorySegment.ofArray(bytes), at, segment, 0, count);
            at += count;
        }
    }

    private int crc(int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(content, from, to - from);
        return (int) crc.getValue();
    }

    @Test
    void pagesThatWerePlacedAreRead() {
        Received received = read();
        PageSource.Sink sink = requireNonNull(begun.get());
        for (int from = 0; from < content.length; from += PAGE) {
            LentMemory lent = requireNonNull(sink.lend());
            place(lent, content, from);
            lent.close();
            sink.placed(crc(from, Math.min(content.length, from + PAGE)));
        }
        assertThat(sink.lend()).as("memory behind the last page").isNull();
        sink.complete();
        assertThat(received.awaitBytes()).isEqualTo(content);
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(content);
    }

    @Test
    void whatIsWrittenLateIntoMemoryThatWasGivenUpGoesNowhere() {
        Received received = read();
        PageSource.Sink sink = requireNonNull(begun.get());
        LentMemory late = requireNonNull(sink.lend());
        sink.renew();
        sink.write(ByteBuffer.wrap(content, 0, PAGE));
        byte[] wrong = new byte[2 * PAGE];
        place(late, wrong, 0);
        sink.write(ByteBuffer.wrap(content, PAGE, content.length - PAGE));
        place(late, wrong, 0);
        sink.complete();
        assertThat(received.awaitBytes()).isEqualTo(content);
        assertThat(rig.memory.stats().condemnedBytes()).isEqualTo(PAGE);
        late.close();
        assertThat(rig.memory.stats().condemnedBytes()).isZero();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(content);
    }

    @Test
    void afterItsEndAFillLendsNothing() {
        Received received = read();
        PageSource.Sink sink = requireNonNull(begun.get());
        sink.fail(new FillException(FillException.Reason.NOT_FOUND, "told to fail", null));
        assertThat(sink.lend()).isNull();
        sink.renew();
        assertThat(received.awaitEnd().cause()).isNotNull();
    }
}
