package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.MemorySource.Fault;
import io.railhead.cache.ReadAhead.Reader;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is fetched before it is asked for, and what is not. */
final class ReadAheadTest {
    private static final Reader ALICE = new Reader("alice", "red");
    private static final Reader BOB = new Reader("bob", "red");
    private static final Reader CAROL = new Reader("carol", "blue");
    private static final int SIZE = 30 * RUN + 100;
    private static final long FIRST_WINDOW = 1 << 20;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    /** A read as the gateway makes one: first it is told of, then its bytes come. */
    private static void read(CacheRig rig, ObjectVersion version, byte[] bytes, long from, long to,
            Reader reader) {
        rig.cache.readAhead().read(version, from, to, reader, rig.source);
        assertThat(rig.read(version, from, to).awaitBytes())
                .isEqualTo(Arrays.copyOfRange(bytes, (int) from, (int) to));
    }

    private static long ahead(CacheRig rig) {
        rig.source.awaitAnswered();
        return rig.cache.stats().readAheadBytes();
    }

    @Test
    void shortReadsInOrderAreFewFetches() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        int step = PAGE / 4;
        for (long at = 0; at < SIZE; at += step) {
            read(rig, version, bytes, at, Math.min(SIZE, at + step), ALICE);
        }
        // By runs, but for the first two reads and the end of each window.
        assertThat(rig.source.fetches()).hasSizeLessThan(2 + 2 * 31);
        assertThat(ahead(rig)).isBetween(SIZE - 2L * PAGE, (long) SIZE);
        assertThat(rig.source.fetches().stream().mapToLong(MemorySource.Fetch::length).sum())
                .isEqualTo(SIZE);
    }

    @Test
    void whoBeginsAgainIsFollowedAgain() {
        CacheRig rig = CacheRig.of(leaks, 10);
        ReadStreams streams = new ReadStreams(rig.source.put(id("a"), random(1, SIZE), "1"));
        for (long end : new long[]{SIZE, SIZE / 2, SIZE}) {
            long ahead = 0;
            for (long at = 0; at < end; at += PAGE) {
                ReadStreams.Wanted wanted = streams.read(at, Math.min(end, at + PAGE), 8L * RUN,
                        _ -> true);
                ahead += wanted == null ? 0 : wanted.stretch().to() - wanted.stretch().from();
            }
            // All but the first reads of each pass: what was fetched for the one before may be
            // gone.
            assertThat(ahead).isGreaterThanOrEqualTo(end - 3L * PAGE);
        }
    }

    @Test
    void whatIsFetchedInVainIsASmallMultipleOfWhatWasRead() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        for (long at = 0; at < RUN; at += 1000) {
            read(rig, version, bytes, at, at + 1000, ALICE);
            assertThat(ahead(rig)).isLessThanOrEqualTo(FIRST_WINDOW + PAGE + 4 * at);
        }
        assertThat(ahead(rig)).isPositive();
    }

    /** Each behind what was fetched for the one before, as who looks for something reads. */
    @Test
    void norDoReadsThatGoFurtherEachTimeFetchMore() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        long read = 0;
        for (long at = 0, step = 1000; at + 1000 < SIZE; at += step) {
            read(rig, version, bytes, at, at + 1000, ALICE);
            read += 1000;
            step = read <= 3000 ? 1000 : 300_000;
            assertThat(ahead(rig)).isLessThanOrEqualTo(FIRST_WINDOW + PAGE + 4 * read);
        }
        assertThat(ahead(rig)).isPositive();
    }

    @Test
    void whereWhatWasFetchedGoesBeforeItIsReadLessIsFetchedForAWhile() {
        ObjectVersion large = new ObjectVersion(id("a"), "1", "", 1L << 30);
        ReadStreams streams = new ReadStreams(large);
        long most = 16 * FIRST_WINDOW;
        List<Long> before = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        for (long at = 0; at < large.sizeBytes(); at += PAGE) {
            boolean there = at != large.sizeBytes() / 4;
            ReadStreams.Wanted wanted = streams.read(at, at + PAGE, most, _ -> there);
            if (wanted != null) {
                (at < large.sizeBytes() / 4 ? before : after)
                        .add(wanted.stretch().to() - wanted.stretch().from());
            }
        }
        assertThat(before.getLast()).isGreaterThanOrEqualTo(most / 2);
        assertThat(after.getFirst()).isLessThanOrEqualTo(most / 4);
        assertThat(after.get(after.size() - 2)).isGreaterThanOrEqualTo(most / 2);
    }

    /** A policy that has seen what it holds often takes in nothing that was not asked for yet. */
    @ParameterizedTest
    @ValueSource(ints = {PAGE / 4, PAGE, RUN})
    void whatIsFetchedIntoAFullCacheIsStillThereWhenItIsRead(int step) {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] hot = random(2, 520 * PAGE);
        ObjectVersion often = rig.source.put(id("often"), hot, "1");
        for (int i = 0; i < 5; i++) {
            rig.read(often, 0, hot.length).awaitBytes();
        }
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        for (long at = 0; at < SIZE; at += step) {
            read(rig, version, bytes, at, Math.min(SIZE, at + step), ALICE);
        }
        rig.source.awaitAnswered();
        long fetched = rig.source.fetches()
                .stream()
                .filter(fetch -> fetch.version().equals(version))
                .mapToLong(MemorySource.Fetch::length)
                .sum();
        assertThat(ahead(rig)).isGreaterThan(SIZE / 2);
        assertThat(fetched).isLessThan(SIZE * 9L / 8);
        long before = rig.source.fetches().size();
        rig.read(often, 0, hot.length).awaitBytes();
        assertThat(rig.source.fetches().size() - before).as("what was often read").isLessThan(20);
    }

    @Test
    void readsHereAndThereFetchNothingMore() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        List<Integer> places = new ArrayList<>(
                IntStream.range(0, 100).mapToObj(i -> i * SIZE / 100).toList());
        Collections.shuffle(places, new Random(7));
        places.forEach(at -> read(rig, version, bytes, at, at + 1000, ALICE));
        assertThat(ahead(rig)).isZero();
    }

    @Test
    void oneReadAtTheStartFetchesNothingMore() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        read(rig, rig.source.put(id("a"), bytes, "1"), bytes, 0, PAGE, ALICE);
        assertThat(ahead(rig)).isZero();
    }

    @Test
    void severalMayReadFromPlacesOfTheirOwn() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        for (long step = 0; step < 3; step++) {
            for (long worker = 0; worker < 3; worker++) {
                long at = worker * 10 * RUN + step * 1000;
                read(rig, version, bytes, at, at + 1000, ALICE);
            }
        }
        assertThat(ahead(rig)).isBetween(3 * FIRST_WINDOW - 3 * PAGE, 3 * FIRST_WINDOW + 3 * PAGE);
    }

    @Test
    void aReadOfOnePrincipalIsNoSignForAnother() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        read(rig, version, bytes, 0, 1000, ALICE);
        read(rig, version, bytes, 1000, 2000, BOB);
        read(rig, version, bytes, 2000, 3000, CAROL);
        assertThat(ahead(rig)).isZero();
    }

    /** The header, then the tensors in whatever order: all of the file is fetched in its own. */
    @Test
    void safetensorsAreReadWhole() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("model.safetensors"), bytes, "1");
        read(rig, version, bytes, 0, 8, ALICE);
        assertThat(ahead(rig)).isEqualTo(2 * RUN);
        List<Integer> tensors = new ArrayList<>(IntStream.range(0, 60).boxed().toList());
        Collections.shuffle(tensors, new Random(7));
        for (int i = 0; i < 30; i++) {
            int at = tensors.get(i) * RUN / 2;
            read(rig, version, bytes, at, at + RUN / 2, ALICE);
        }
        rig.source.awaitAnswered();
        assertThat(rig.cache.holds(version, 0, SIZE / 2)).isTrue();
    }

    @Test
    void inTheMiddleOfSafetensorsNobodyIsTakenToReadAll() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("model.safetensors"), bytes, "1");
        read(rig, version, bytes, 5 * RUN, 6 * RUN, ALICE);
        assertThat(ahead(rig)).isZero();
    }

    /** Claims made ahead are nobody's to wait for once they were given up. */
    @Test
    void whatOneTenantHasUnderWayIsBounded() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        rig.source.hold();
        for (int i = 0; i < 10; i++) {
            ObjectVersion version = rig.source.put(id(i + ".safetensors"), bytes, "1");
            rig.cache.readAhead().read(version, 0, 8, i % 2 == 0 ? ALICE : BOB, rig.source);
        }
        assertThat(rig.cache.readAhead().underWay("red")).isEqualTo(16L * RUN);
        ObjectVersion last = rig.source.put(id("last.safetensors"), bytes, "1");
        rig.cache.readAhead().read(last, 0, 8, CAROL, rig.source);
        assertThat(rig.cache.readAhead().underWay("blue")).isEqualTo(2L * RUN);
        rig.source.release();
        rig.source.awaitAnswered();
        assertThat(rig.cache.readAhead().underWay("red")).isZero();
        assertThat(rig.cache.readAhead().underWay("blue")).isZero();
        read(rig, rig.source.put(id("9.safetensors"), bytes, "1"), bytes, 0, SIZE, ALICE);
    }

    @Test
    void withoutMemoryNobodyIsHindered() {
        CacheRig rig = CacheRig.of(leaks, 40);
        byte[] bytes = random(1, SIZE);
        ObjectVersion held = rig.source.put(id("held"), bytes, "1");
        Received keeping = Received.keeping();
        RangeReader reader = rig.start(held, 0, SIZE, Pool.CACHE, rig.source, keeping);
        CacheRig.await(() -> keeping.soFar().length == 2 * RUN);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        for (long at = 0; at < SIZE; at += PAGE) {
            read(rig, version, bytes, at, Math.min(SIZE, at + PAGE), ALICE);
        }
        reader.cancel();
        keeping.closeKept();
        rig.source.awaitAnswered();
        assertThat(rig.cache.readAhead().underWay("red")).isZero();
    }

    @Test
    void whatFailsAheadIsFetchedAgainWhenItIsAskedFor() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a.safetensors"), bytes, "1");
        rig.source.failing(Fault.TRUNCATED, Fault.REFUSED);
        rig.cache.readAhead().read(version, 0, 8, ALICE, rig.source);
        rig.source.awaitAnswered();
        assertThat(rig.cache.stats().fillFailures()).isEqualTo(2);
        assertThat(rig.cache.readAhead().underWay("red")).isZero();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
    }

    @Test
    void aFetchThatCannotBeSentIsNotUnderWay() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a.safetensors"), bytes, "1");
        rig.source.failing(Fault.THROWS, Fault.THROWS, Fault.THROWS);
        rig.cache.readAhead().read(version, 0, 8, ALICE, rig.source);
        assertThat(rig.cache.readAhead().underWay("red")).isZero();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
    }

    @Test
    void whatIsWrittenMeanwhileIsNotKept() {
        CacheRig rig = CacheRig.of(leaks, 600);
        ObjectVersion version = rig.source.put(id("a.safetensors"), random(1, SIZE), "1");
        rig.source.hold();
        rig.cache.readAhead().read(version, 0, 8, ALICE, rig.source);
        rig.cache.writes().begin(id("a.safetensors")).end(WriteOutcome.DONE);
        rig.source.release();
        rig.source.awaitAnswered();
        assertThat(rig.cache.stats().pages()).isZero();
        assertThat(rig.memory.stats().usedBytes()).isZero();
    }

    @Test
    void whatIsHeldIsNotFetchedAgain() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a.safetensors"), bytes, "1");
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
        rig.source.awaitAnswered();
        int fetches = rig.source.fetches().size();
        long hits = rig.cache.stats().pageHits();
        for (int i = 0; i < 60; i++) {
            rig.cache.readAhead().read(version, 0, RUN, ALICE, rig.source);
        }
        assertThat(rig.source.fetches()).hasSize(fetches);
        assertThat(rig.cache.stats().pageHits()).isEqualTo(hits);
    }

    /** Whoever serves hits by itself hears when it has to say so. */
    @Test
    void hitsMoveTheWindowOn() {
        CacheRig rig = CacheRig.of(leaks, 600);
        byte[] bytes = random(1, SIZE);
        ObjectVersion version = rig.source.put(id("a"), bytes, "1");
        ReadAhead readAhead = rig.cache.readAhead();
        assertThat(readAhead.isDue(version, 0, PAGE, "alice")).isFalse();
        int told = 0;
        for (long at = 0; at < SIZE; at += PAGE) {
            long to = Math.min(SIZE, at + PAGE);
            if (!rig.cache.holds(version, at, to) || readAhead.isDue(version, at, to, "alice")) {
                read(rig, version, bytes, at, to, ALICE);
                told++;
            }
            rig.source.awaitAnswered();
        }
        assertThat(told).isBetween(5, 20);
        assertThat(ahead(rig)).isGreaterThan(SIZE - 4 * PAGE);
    }

    @Test
    void limitsMustMakeSense() {
        assertThatThrownBy(() -> new ReadAhead.Limits(-1, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ReadAhead.Limits(0, -1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** Several readers, faults and too little memory: every byte right, nothing left under way. */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void whateverIsReadIsRight(int seed) {
        Random random = new Random(seed);
        CacheRig rig = CacheRig.of(leaks, 60 + random.nextInt(100));
        List<byte[]> objects = new ArrayList<>();
        List<ObjectVersion> versions = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            objects.add(random(seed + i, 1 + random.nextInt(SIZE)));
            versions.add(rig.source.put(id(i + (i == 0 ? ".safetensors" : "")), objects.get(i),
                    "v" + i));
        }
        long[] places = new long[4];
        for (int step = 0; step < 300; step++) {
            int i = random.nextInt(4);
            int size = objects.get(i).length;
            if (random.nextInt(10) == 0 || places[i] >= size) {
                places[i] = random.nextInt(size);
            }
            long from = places[i];
            places[i] = Math.min(size, from + 1 + random.nextInt(2 * PAGE));
            if (random.nextInt(20) == 0) {
                // A fetch that fails is tried once more, and then must not fail again.
                rig.source.failing(Fault.TRUNCATED, Fault.NONE, Fault.NONE, Fault.NONE);
            }
            read(rig, versions.get(i), objects.get(i), from, places[i],
                    random.nextBoolean() ? ALICE : CAROL);
        }
        rig.source.awaitAnswered();
        assertThat(rig.cache.readAhead().underWay("red")).isZero();
        assertThat(rig.cache.readAhead().underWay("blue")).isZero();
    }
}
