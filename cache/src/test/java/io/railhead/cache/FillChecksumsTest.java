package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A store whose bytes may not be those that its checksum names. Long by what its tests share: such
 * a store, and such sums.
 */
final class FillChecksumsTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static final byte[] BYTES = random(1, 3 * RUN + 5000);
    private static final Selection ALL = new Selection("bucket", "", Selection.Kind.PREFIX);
    private static final int PAGES = Math.ceilDiv(BYTES.length, PAGE);
    /** Answers where it is asked. */
    private static final PageSource AT_ONCE = (version, offset, length, sink) -> {
        sink.write(bytes(offset, length));
        sink.complete();
    };

    private static ByteBuffer bytes(long offset, long length) {
        return ByteBuffer.wrap(BYTES, (int) offset, (int) length).slice();
    }

    /** The sum of its pages' sums, so that it depends on nothing that a gateway brings. */
    private record SumOfSums(long value) implements WholeChecksum {
        static SumOfSums of(byte[] bytes) {
            long total = 0;
            for (int from = 0; from < bytes.length; from += PAGE) {
                CRC32 crc = new CRC32();
                crc.update(bytes, from, Math.min(PAGE, bytes.length - from));
                total += crc.getValue();
            }
            return new SumOfSums(total);
        }

        @Override
        public Checksum part() {
            return new CRC32();
        }

        @Override
        public boolean isOf(long[] sums, long partBytes, long lastBytes) {
            assertThat(partBytes).isEqualTo(PAGE);
            assertThat(lastBytes).isEqualTo(BYTES.length % PAGE);
            return Arrays.stream(sums).sum() == value;
        }
    }

    /** What the source has, but for a bit in each of some pages. */
    private static class Corrupting implements PageSource {
        private final PageSource source;
        private final Set<Integer> pages = ConcurrentHashMap.newKeySet();

        Corrupting(PageSource source, Integer... pages) {
            this.source = source;
            this.pages.addAll(List.of(pages));
        }

        @Override
        public @Nullable WholeChecksum checksum(ObjectVersion version) {
            return SumOfSums.of(BYTES);
        }

        @Override
        public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
            Set<Integer> wrong = Set.copyOf(pages);
            source.fetch(version, offset, length, new Sink() {
                private long at = offset;

                @Override
                public void write(ByteBuffer bytes) {
                    byte[] copy = new byte[bytes.remaining()];
                    bytes.get(copy);
                    for (int page : wrong) {
                        long first = (long) page * PAGE + 17 - at;
                        if (first >= 0 && first < copy.length) {
                            copy[(int) first] ^= 4;
                        }
                    }
                    at += copy.length;
                    sink.write(ByteBuffer.wrap(copy));
                }

                @Override
                public void complete() {
                    sink.complete();
                }

                @Override
                public void fail(FillException cause) {
                    sink.fail(cause);
                }
            });
        }
    }

    private static Received read(CacheRig rig, ObjectVersion version, long from, long to,
            PageSource source) {
        return rig.read(version, from, to, Pool.CACHE, source, Received.closing());
    }

    private static void assertFoundWrong(Received reader) {
        assertThat(reader.awaitEnd().cause()).hasMessageContaining("checksum names");
    }

    /** Of which each page's sum is known, and none is held. */
    private static ObjectVersion compared(CacheRig rig) {
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        read(rig, version, 0, BYTES.length, new Corrupting(rig.source)).awaitBytes();
        rig.source.awaitAnswered();
        rig.cache.control().evict(ALL);
        return version;
    }

    /** What came before is wrong now as far as anybody knows, whatever the store is doing. */
    private static void refute(CacheRig rig, ObjectVersion version) {
        assertFoundWrong(read(rig, version, PAGE, 2 * PAGE, new Corrupting(AT_ONCE, 1)));
    }

    @Test
    void whatIsRightIsServedAndCounted() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Corrupting source = new Corrupting(rig.source);
        read(rig, version, 2 * PAGE, BYTES.length, source).awaitBytes();
        assertThat(rig.cache.stats().checksumMatches()).isZero();
        assertThat(read(rig, version, 0, BYTES.length, source).awaitBytes()).isEqualTo(BYTES);
        assertThat(rig.cache.stats().checksumMatches()).isEqualTo(1);
        assertThat(rig.cache.stats().checksumMismatches()).isZero();
    }

    @Test
    void whoeverTakesTheLastMissingPageHearsThatOneWasWrongAndNoneIsKept() {
        for (int wrong = 0; wrong < PAGES; wrong++) {
            CacheRig rig = CacheRig.of(leaks, 64);
            ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
            Corrupting source = new Corrupting(rig.source, wrong);
            Received end = read(rig, version, 0, BYTES.length, source);
            assertThat(end.awaitEnd().cause()).as("page %s", wrong)
                    .hasMessageContaining("checksum names");
            rig.source.awaitAnswered();
            for (int page = 0; page < PAGES; page++) {
                long from = (long) page * PAGE;
                assertThat(rig.cache.holds(version, from, from + 1)).as("page %s", page).isFalse();
            }
            assertThat(rig.cache.stats().checksumMismatches()).isEqualTo(1);

            source.pages.clear();
            assertThat(read(rig, version, 0, BYTES.length, source).awaitBytes())
                    .isEqualTo(BYTES);
        }
    }

    @Test
    void whatIsFetchedAheadIsHeldAgainstItToo() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Corrupting source = new Corrupting(rig.source, PAGES - 1);
        ReadAhead.Reader reader = new ReadAhead.Reader("alice", "red");
        for (long at = 0; at < 2 * PAGE; at += PAGE) {
            rig.cache.readAhead().read(version, at, at + PAGE, reader, source);
            read(rig, version, at, at + PAGE, source).awaitEnd();
            rig.source.awaitAnswered();
        }
        assertThat(rig.cache.stats().readAheadBytes()).isPositive();
        assertThat(rig.cache.stats().checksumMismatches()).isEqualTo(1);
        assertThat(rig.cache.holds(version, PAGE, BYTES.length)).isFalse();
    }

    /** The store's answer to that question may be forgotten while a long read goes on. */
    @Test
    void aReaderKeepsWhatItsBytesAreHeldAgainst() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        AtomicInteger asked = new AtomicInteger();
        Corrupting source = new Corrupting(rig.source, PAGES - 1) {
            @Override
            public @Nullable WholeChecksum checksum(ObjectVersion of) {
                return asked.getAndIncrement() == 0 ? super.checksum(of) : null;
            }
        };
        assertFoundWrong(read(rig, version, 0, BYTES.length, source));
    }

    /** A reader that keeps its window full, and gets no more. */
    private static Received readHalf(CacheRig rig, ObjectVersion version, PageSource source) {
        Received slow = Received.keeping();
        rig.read(version, 0, BYTES.length, Pool.CACHE, source, slow);
        CacheRig.await(() -> slow.kept().size() == 2 * RUN / PAGE);
        return slow;
    }

    private static void readRest(Received slow) {
        CacheRig.await(() -> {
            slow.closeKept();
            return slow.hasEnded();
        });
    }

    /** It has been handed bytes that nobody could have known to be wrong. */
    @Test
    void whoReadsWhenItComesOutDoesNotSucceed() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Corrupting source = new Corrupting(rig.source, 0);
        Received slow = readHalf(rig, version, source);
        source.pages.clear();
        assertThat(read(rig, version, 2L * RUN, BYTES.length, source).awaitEnd().cause())
                .isNotNull();
        readRest(slow);
        assertFoundWrong(slow);
    }

    /** They were right as far as anybody knew, and wait for its turn. */
    @Test
    void norDoesWhoHasAllOfItsPagesAndWasHandedNone() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Queue<Runnable> turns = new ConcurrentLinkedQueue<>();
        Received reader = Received.closing();
        rig.source.hold();
        rig.cache.read(new ReadRequest(version, 0, RUN, Pool.CACHE),
                new Corrupting(rig.source, 0), turns::add, reader).start();
        rig.source.release();
        rig.source.awaitAnswered();
        assertThat(rig.memory.stats().leases()).isEqualTo(RUN / PAGE);

        assertFoundWrong(read(rig, version, RUN, BYTES.length, new Corrupting(rig.source)));
        for (Runnable turn = turns.poll(); turn != null; turn = turns.poll()) {
            turn.run();
        }

        assertFoundWrong(reader);
        assertThat(reader.soFar()).isEmpty();
    }

    /** It would wait for bytes that are held against what was refuted. */
    @Test
    void whoComesOnceItIsOutWaitsForNothingThatIsInFlight() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = compared(rig);
        int fetched = rig.source.fetches().size();
        Corrupting source = new Corrupting(rig.source);
        rig.source.hold();
        Received before = read(rig, version, 0, PAGE, source);
        CacheRig.await(() -> rig.source.fetches().size() == fetched + 1);
        refute(rig, version);
        Received after = read(rig, version, 0, PAGE, source);
        CacheRig.await(() -> rig.source.fetches().size() == fetched + 2);
        rig.source.release();
        assertFoundWrong(before);
        assertThat(after.awaitBytes()).isEqualTo(Arrays.copyOf(BYTES, PAGE));
    }

    /** Who began before still has what was refuted, and may fetch with it later. */
    @Test
    void norDoesItFailWithWhatItWaitsForAllTheSame() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = compared(rig);
        Corrupting source = new Corrupting(rig.source);
        Received before = Received.closing();
        RangeReader late = rig.cache.read(new ReadRequest(version, 0, PAGE, Pool.CACHE), source,
                Runnable::run, before);
        refute(rig, version);
        rig.source.hold();
        late.start();
        Received after = read(rig, version, 0, PAGE, source);
        CacheRig.await(() -> rig.cache.stats().pageJoins() == 1);
        rig.source.release();
        assertFoundWrong(before);
        assertThat(after.awaitBytes()).isEqualTo(Arrays.copyOf(BYTES, PAGE));
    }

    /** Whoever comes next would find it held, and compare nothing of it. */
    @Test
    void norDoesWhatItFetchesThenStay() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Corrupting source = new Corrupting(rig.source, 0);
        Received slow = readHalf(rig, version, source);
        assertThat(read(rig, version, 2L * RUN, BYTES.length, source).awaitEnd().cause())
                .isNotNull();
        readRest(slow);
        rig.source.awaitAnswered();
        for (long page = 0; page < PAGES; page++) {
            assertThat(rig.cache.holds(version, page * PAGE, page * PAGE + 1)).as("page %s", page)
                    .isFalse();
        }
        assertThat(rig.cache.stats().checksumMismatches()).isEqualTo(1);
    }

    @Test
    void whatComesAgainMustBeTheSame() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = compared(rig);
        Corrupting source = new Corrupting(rig.source, 2);
        assertFoundWrong(read(rig, version, 2 * PAGE, 3 * PAGE, source));
        assertThat(read(rig, version, PAGE, 2 * PAGE, source).awaitEnd().cause()).isNull();
    }

    private static ObjectVersion version(int number, int pages) {
        return new ObjectVersion(id("o" + number), "e", "", (long) pages * PAGE);
    }

    /** Those who begin anew would not know its sum. */
    @Test
    void withRefutedSumsNoPageAgrees() {
        FillChecksums sums = new FillChecksums(PAGE, 16 * 1000);
        FillChecksums.Sums refuted = Objects
                .requireNonNull(sums.of(version(0, 2), SumOfSums.of(BYTES)));
        assertThat(refuted.agrees(0, 1)).isTrue();
        sums.tryRefute(version(0, 2), refuted);
        assertThat(refuted.agrees(0, 1)).isFalse();
        assertThat(refuted.agrees(1, 1)).isFalse();
    }

    /** Else a cache that knows many would never compare what is new. */
    @Test
    void whatHasBegunStaysWhateverWasReadBefore() {
        FillChecksums sums = new FillChecksums(PAGE, 16 * 1000);
        WholeChecksum whole = SumOfSums.of(BYTES);
        for (int i = 0; i < 5000; i++) {
            assertThat(sums.of(version(i, 2), whole)).isNotNull();
            assertThat(sums.of(version(i, 2), whole)).isSameAs(sums.of(version(i, 2), whole));
        }
        FillChecksums.Sums first = Objects.requireNonNull(sums.of(version(0, 2), whole));
        for (int i = 0; i < 10_000; i++) {
            assertThat(sums.of(version(0, 2), whole)).isSameAs(first);
            sums.of(version(i + 10_000, 2), whole);
        }
        assertThat(sums.tryRefute(version(0, 2), first)).isTrue();
        assertThat(sums.tryRefute(version(0, 2), first)).isFalse();
        assertThat(sums.of(version(0, 2), whole)).isSameAs(first);
        sums.drop(version(0, 2), first);
        assertThat(sums.of(version(0, 2), whole)).isNotSameAs(first);
    }

    @Test
    void whatIsTooLargeIsNotComparedAndTakesNothing() {
        FillChecksums sums = new FillChecksums(PAGE, 16 * 1000);
        WholeChecksum whole = SumOfSums.of(BYTES);
        FillChecksums.Sums small = sums.of(version(1, 900), whole);
        for (int i = 2; i < 100; i++) {
            assertThat(sums.of(version(i, 977), whole)).isNull();
        }
        assertThat(sums.of(version(1, 900), whole)).isSameAs(small);
    }

    /** However reads, wrong pages and evictions fall. */
    @Test
    void nothingThatIsReadOrHeldWholeIsWrong() {
        long mismatches = 0;
        int wholes = 0;
        for (int seed = 1; seed <= 20; seed++) {
            Random random = new Random(seed);
            CacheRig rig = CacheRig.of(leaks, 64);
            ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
            for (int step = 0; step < 40; step++) {
                Corrupting source = new Corrupting(rig.source);
                if (random.nextInt(3) == 0) {
                    source.pages.add(random.nextInt(PAGES));
                }
                List<Received> readers = new ArrayList<>();
                int all = random.nextInt(3);
                for (int i = 0; i < 3; i++) {
                    int from = i == all ? 0 : random.nextInt(BYTES.length);
                    int to = i == all
                            ? BYTES.length
                            : from + 1 + random.nextInt(BYTES.length - from);
                    readers.add(read(rig, version, from, to, source));
                }
                readers.forEach(Received::awaitEnd);
                Received whole = readers.get(all);
                if (whole.awaitEnd().cause() == null) {
                    wholes++;
                    assertThat(whole.soFar()).as("seed %s, step %s", seed, step).isEqualTo(BYTES);
                }
                rig.source.awaitAnswered();
                if (rig.cache.holds(version, 0, BYTES.length)) {
                    assertThat(read(rig, version, 0, BYTES.length, source).awaitBytes())
                            .as("seed %s, step %s", seed, step)
                            .isEqualTo(BYTES);
                }
                if (random.nextInt(8) == 0) {
                    rig.cache.control().evict(ALL);
                }
            }
            mismatches += rig.cache.stats().checksumMismatches();
        }
        assertThat(mismatches).isPositive();
        assertThat(wholes).isPositive();
    }

    /** What was right as far as anybody knew, and went to where it is found a moment later. */
    @Test
    void norDoesWhatAgreedJustBeforeItCameOut() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        AtomicReference<Runnable> onceAPageAgreed = new AtomicReference<>(() -> {});
        WholeChecksum whole = SumOfSums.of(BYTES);
        Corrupting source = new Corrupting(AT_ONCE) {
            @Override
            public WholeChecksum checksum(ObjectVersion of) {
                return new WholeChecksum() {
                    @Override
                    public Checksum part() {
                        onceAPageAgreed.getAndSet(() -> {}).run();
                        return whole.part();
                    }

                    @Override
                    public boolean isOf(long[] sums, long partBytes, long lastBytes) {
                        return whole.isOf(sums, partBytes, lastBytes);
                    }
                };
            }
        };
        read(rig, version, RUN, 3L * RUN, source).awaitBytes();
        source.pages.add(0);
        onceAPageAgreed.set(() -> onceAPageAgreed
                .set(() -> read(rig, version, 0, RUN, source).awaitEnd()));
        read(rig, version, 3L * RUN, BYTES.length, source).awaitEnd();
        assertThat(rig.cache.stats().checksumMismatches()).isEqualTo(1);
        assertThat(rig.cache.holds(version, 3L * RUN, 3L * RUN + 1)).isFalse();
    }

    /** Known to be wrong, and not forgotten yet: in that instant it would be found. */
    @Test
    void norDoesWhatAgreedWhenItHasJustComeOut() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        FillTable table = rig.cache.table;
        FillChecksums.Sums sums = Objects
                .requireNonNull(table.sums(version, new Corrupting(rig.source)));
        FillClaim fillClaim = Objects.requireNonNull(table.tryClaim(new PageKey(version, 0), ""));
        Page page = Objects.requireNonNull(table.tryAllocate(new int[]{PAGE}, Pool.CACHE, ""))
                .getFirst();
        page.write(bytes(0, PAGE));
        page.publish();
        table.sums().tryRefute(version, sums);
        table.published(fillClaim, page, sums);
        assertThat(rig.cache.holds(version, 0, 1)).isFalse();
    }

    /** Asked for when nobody knew a checksum, and on its way when the rest was wrong. */
    @Test
    void norDoesWhatIsHeldAgainstNothing() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = compared(rig);
        AtomicReference<PageSource.@Nullable Sink> body = new AtomicReference<>();
        var _ = rig.cache.discover(id("a"), "", flight -> body.set(flight.found(
                Objects.requireNonNull(
                        rig.source.head(id("a"), rig.cache.writes().epoch(id("a")), 0)),
                0, PAGE)));
        refute(rig, version);
        PageSource.Sink late = Objects.requireNonNull(body.get());
        late.write(bytes(0, PAGE));
        late.complete();
        assertThat(rig.cache.holds(version, 0, 1)).isFalse();
    }

    private static void upload(CacheRig rig, ObjectVersion version) {
        ObjectMetadata head = Objects.requireNonNull(rig.source.head(version.object(),
                rig.cache.writes().epoch(version.object()), System.nanoTime()));
        assertThat(rig.cache.learn(head)).isTrue();
        StagedUpload upload = Objects
                .requireNonNull(rig.cache.tryStage(BYTES.length, ""));
        upload.write(ByteBuffer.wrap(BYTES));
        assertThat(rig.cache.keep(head, upload)).isTrue();
    }

    /** A page is being fetched, wrongly, when an upload's bytes come of all others. */
    @Test
    void anUploadDoesNotCompleteWhatWasFetchedAndNotCompared() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        Corrupting source = new Corrupting(rig.source, 1);
        rig.source.hold();
        Received part = read(rig, version, PAGE, 2 * PAGE, source);
        CacheRig.await(() -> rig.source.fetches().size() == 1);
        upload(rig, version);
        Received before = read(rig, version, 0, BYTES.length, source);
        rig.source.release();
        part.awaitEnd();
        assertFoundWrong(before);
        assertThat(rig.cache.holds(version, 0, BYTES.length)).isFalse();
        assertFoundWrong(read(rig, version, 0, BYTES.length, source));
    }

    /** It comes once the fetched page is there. */
    @Test
    void norDoesALateOne() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        read(rig, version, PAGE, 2 * PAGE, new Corrupting(rig.source, 1)).awaitEnd();
        upload(rig, version);
        assertThat(rig.cache.holds(version, 0, BYTES.length)).isFalse();
        assertFoundWrong(read(rig, version, 0, BYTES.length, new Corrupting(rig.source, 1)));
    }

    @Test
    void whatWasUploadedIsServedWithoutAFetch() {
        CacheRig rig = CacheRig.of(leaks, 64);
        ObjectVersion version = rig.source.put(id("a"), BYTES, "1");
        upload(rig, version);
        assertThat(read(rig, version, 0, BYTES.length, new Corrupting(rig.source, 1)).awaitBytes())
                .isEqualTo(BYTES);
        assertThat(rig.source.fetches()).isEmpty();
    }
}
