package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static io.railhead.cache.CacheRig.id;
import static io.railhead.cache.CacheRig.random;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.CacheControl.Held;
import io.railhead.cache.CacheControl.Pinned;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Pins and evictions by an operator; half of the memory may be pinned. */
final class PinTest {
    private static final int KEYS = 6;
    private static final int STEPS = 200;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private int versions;

    static List<Integer> seeds() {
        List<Integer> seeds = new ArrayList<>();
        for (int seed = 1; seed <= 12; seed++) {
            seeds.add(seed);
        }
        return seeds;
    }

    private static Selection key(String key) {
        return new Selection("bucket", key, Selection.Kind.KEY);
    }

    private static Selection prefix(String prefix) {
        return new Selection("bucket", prefix, Selection.Kind.PREFIX);
    }

    /** Known, and all of it held for as long as nothing evicts it. */
    private ObjectVersion hold(CacheRig rig, String key, byte[] bytes) {
        ObjectVersion version = rig.source.put(id(key), bytes, "v" + versions++);
        rig.cache.learn(requireNonNull(
                rig.source.head(id(key), rig.cache.writes().epoch(id(key)), System.nanoTime())));
        assertThat(read(rig, version)).isEqualTo(bytes);
        return version;
    }

    /** All of it, with what was fetched for it indexed or let go. */
    private static byte[] read(CacheRig rig, ObjectVersion version) {
        byte[] bytes = rig.readAll(version).awaitBytes();
        rig.source.awaitAnswered();
        return bytes;
    }

    /** Reads more than there is memory for. */
    private void press(CacheRig rig) {
        for (int i = 0; i < 20; i++) {
            hold(rig, "filler" + i, random(i, RUN));
        }
    }

    private static boolean holds(CacheRig rig, ObjectVersion version) {
        return rig.cache.holds(version, 0, version.sizeBytes());
    }

    @Test
    void whatIsPinnedStaysAndWhatIsNotGoes() {
        CacheRig rig = CacheRig.of(leaks, 40);
        ObjectVersion before = hold(rig, "pinned/1", random(1, RUN));
        ObjectVersion other = hold(rig, "other", random(2, RUN));
        assertThat(rig.cache.control().tryPin(prefix("pinned/"))).isTrue();
        ObjectVersion after = hold(rig, "pinned/2", random(3, PAGE + 1));
        press(rig);
        assertThat(holds(rig, before)).isTrue();
        assertThat(holds(rig, after)).isTrue();
        assertThat(holds(rig, other)).isFalse();
        assertThat(rig.cache.control().pins()).containsExactly(new Pinned(prefix("pinned/"),
                new Held(2, RUN + PAGE + 4096)));
        assertThat(rig.cache.stats().pinnedBytes()).isEqualTo(RUN + PAGE + 4096);
        assertThat(rig.cache.control().unpin(prefix("pinned/"))).isTrue();
        assertThat(rig.cache.control().unpin(prefix("pinned/"))).isFalse();
        press(rig);
        assertThat(holds(rig, before)).isFalse();
        assertThat(rig.cache.stats().pinnedBytes()).isZero();
    }

    @Test
    void aPinnedPageIsHitWithoutAFetch() {
        CacheRig rig = CacheRig.of(leaks, 40);
        byte[] bytes = random(1, RUN);
        ObjectVersion version = hold(rig, "a", bytes);
        rig.cache.control().tryPin(key("a"));
        int fetches = rig.source.fetches().size();
        assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes);
        assertThat(rig.source.fetches()).hasSize(fetches);
    }

    @Test
    void aWriteRemovesWhatIsPinned() {
        CacheRig rig = CacheRig.of(leaks, 40);
        rig.cache.control().tryPin(key("a"));
        ObjectVersion old = hold(rig, "a", random(1, RUN));
        rig.cache.writes().begin(id("a")).end(WriteOutcome.DONE);
        assertThat(holds(rig, old)).isFalse();
        assertThat(rig.cache.stats().pinnedBytes()).isZero();
        ObjectVersion now = hold(rig, "a", random(2, 2 * PAGE));
        rig.cache.invalidate(id("a"), EvictionCause.INVALIDATED);
        assertThat(holds(rig, now)).isFalse();
        assertThat(rig.memory.stats().usedBytes()).isZero();
    }

    @Test
    void moreThanTheLimitIsNotPinned() {
        CacheRig rig = CacheRig.of(leaks, 40);
        CacheControl control = rig.cache.control();
        assertThat(control.pinLimitBytes()).isEqualTo(20 * PAGE);
        assertThat(control.tryPin(prefix("a"))).isTrue();
        for (int i = 0; i < 4; i++) {
            hold(rig, "a" + i, random(i, RUN));
        }
        hold(rig, "b", random(9, 5 * PAGE));
        assertThat(control.tryPin(key("b"))).isFalse();
        assertThat(control.pins()).hasSize(1);
        assertThat(control.pinnedBytes()).isEqualTo(4 * RUN);
        // What comes later is held as anything else is.
        hold(rig, "a5", random(5, 2 * RUN));
        assertThat(control.pinnedBytes()).isEqualTo(20 * PAGE);
        press(rig);
        assertThat(control.pinnedBytes()).isEqualTo(20 * PAGE);
    }

    @Test
    void noPinCountsWithoutEnd() {
        CacheControl control = CacheRig.of(leaks, 40).cache.control();
        for (int i = 0; i < 1000; i++) {
            assertThat(control.tryPin(key("k" + i))).isTrue();
        }
        assertThat(control.tryPin(key("k0"))).isTrue();
        assertThat(control.tryPin(key("one more"))).isFalse();
    }

    @Test
    void withAllPinnedThatMayBeReadsGoOn() throws Exception {
        CacheRig rig = CacheRig.of(leaks, 40);
        rig.cache.control().tryPin(prefix(""));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                byte[] bytes = random(i, 2 * RUN);
                ObjectVersion version = rig.source.put(id("k" + i), bytes, "1");
                readers.add(threads.submit(
                        () -> assertThat(rig.readAll(version).awaitBytes()).isEqualTo(bytes)));
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
        }
        assertThat(rig.cache.control().pinnedBytes()).isEqualTo(20 * PAGE);
        assertThat(rig.cache.stats().shortages()).isNotNegative();
    }

    /** A page counts once, by why it went: an alert reads pressure alone. */
    @Test
    void pagesThatLeaveAreCountedByCause() {
        CacheRig rig = CacheRig.of(leaks, 40);
        hold(rig, "operator", random(1, 3 * PAGE));
        hold(rig, "pinned", random(2, PAGE));
        assertThat(rig.cache.control().tryPin(key("pinned"))).isTrue();
        hold(rig, "written", random(3, 2 * PAGE));
        hold(rig, "replaced", random(4, PAGE));

        rig.cache.control().evict(key("operator"));
        rig.cache.control().evict(key("pinned"));
        rig.cache.invalidate(id("written"), EvictionCause.INVALIDATED);
        hold(rig, "replaced", random(5, PAGE));

        assertThat(rig.cache.stats().evictedPages()).isEqualTo(Map.of(
                EvictionCause.ADMIN, 4L, EvictionCause.INVALIDATED, 3L,
                EvictionCause.PRESSURE, 0L, EvictionCause.QUOTA, 0L,
                EvictionCause.CORRUPT, 0L));
    }

    @Test
    void evictionForgetsWhatIsHeldAndWhatIsOnItsWay() {
        CacheRig rig = CacheRig.of(leaks, 40);
        CacheControl control = rig.cache.control();
        ObjectVersion one = hold(rig, "dir/1", random(1, RUN));
        hold(rig, "dir/2", random(2, 1));
        hold(rig, "else", random(3, PAGE));
        control.tryPin(key("dir/1"));
        ObjectVersion coming = rig.source.put(id("dir/3"), random(4, PAGE), "1");
        rig.source.hold();
        Received received = rig.readAll(coming);
        CacheRig.await(() -> rig.source.fetches().getLast().version().equals(coming));
        assertThat(control.evict(prefix("dir/"))).isEqualTo(new Held(2, RUN + 4096));
        rig.source.release();
        assertThat(received.awaitBytes()).isEqualTo(random(4, PAGE));
        CacheRig.await(() -> rig.memory.stats().usedBytes() == PAGE);
        assertThat(holds(rig, one)).isFalse();
        assertThat(rig.cache.find(id("dir/1"))).isNull();
        assertThat(rig.cache.find(id("else"))).isNotNull();
        assertThat(control.pinnedBytes()).isZero();
        assertThat(control.evict(prefix("dir/"))).isEqualTo(new Held(0, 0));
        hold(rig, "dir/1", random(5, PAGE));
        assertThat(control.pinnedBytes()).isEqualTo(PAGE);
    }

    @Test
    void roomIsWhatWouldEvictNothing() {
        CacheRig rig = CacheRig.of(leaks, 40);
        CacheControl control = rig.cache.control();
        // Two runs are left for fills.
        assertThat(control.hasRoomFor(id("a"), 32 * PAGE)).isTrue();
        assertThat(control.hasRoomFor(id("a"), 33 * PAGE)).isFalse();
        hold(rig, "b", random(1, RUN));
        assertThat(control.hasRoomFor(id("a"), 28 * PAGE)).isTrue();
        assertThat(control.hasRoomFor(id("a"), 29 * PAGE)).isFalse();
        press(rig);
        assertThat(control.hasRoomFor(id("a"), RUN)).isFalse();
        control.tryPin(key("a"));
        assertThat(control.hasRoomFor(id("a"), RUN)).isTrue();
    }

    /** Against a model that knows which objects are pinned whole; the seed is the test's name. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void whatIsPinnedIsHeldUntilItIsWrittenEvictedOrUnpinned(int seed) {
        Random random = new Random(seed);
        CacheRig rig = CacheRig.of(leaks, 40);
        CacheControl control = rig.cache.control();
        Map<String, byte[]> model = new HashMap<>();
        Map<String, ObjectVersion> held = new HashMap<>();
        Set<Selection> pins = new HashSet<>();
        for (int step = 0; step < STEPS; step++) {
            String name = "key" + random.nextInt(KEYS);
            Selection some = random.nextInt(4) == 0 ? prefix("key") : key(name);
            switch (random.nextInt(8)) {
                case 0 -> {
                    rig.cache.writes().begin(id(name)).end(WriteOutcome.DONE);
                    held.remove(name);
                    model.put(name, random(random.nextInt(), random.nextInt(3 * PAGE)));
                }
                case 1 -> {
                    control.evict(some);
                    held.keySet().removeIf(each -> some.covers(id(each)));
                }
                case 2 -> {
                    // Eighteen pages at most are pinned: fewer than the limit.
                    assertThat(control.tryPin(some)).isTrue();
                    pins.add(some);
                }
                case 3 -> assertThat(control.unpin(some)).isEqualTo(pins.remove(some));
                default -> {
                    byte[] bytes = model.computeIfAbsent(name, _ -> random(seed, PAGE));
                    ObjectVersion version = held.get(name);
                    if (version == null) {
                        held.put(name, hold(rig, name, bytes));
                    } else {
                        assertThat(Arrays.equals(read(rig, version), bytes)).isTrue();
                    }
                }
            }
            hold(rig, "filler" + random.nextInt(20), random(step, RUN));
            requirePinned(rig, pins, held, seed);
        }
        pins.forEach(control::unpin);
        assertThat(control.pinnedBytes()).isZero();
        control.evict(prefix(""));
        assertThat(rig.memory.stats().usedBytes()).isZero();
    }

    /** What was whole at the last look, or has been read since, is whole unless it was let go. */
    private static void requirePinned(CacheRig rig, Set<Selection> pins,
            Map<String, ObjectVersion> held, int seed) {
        held.entrySet().removeIf(entry -> {
            boolean pinned = pins.stream().anyMatch(pin -> pin.covers(id(entry.getKey())));
            return !pinned && !holds(rig, entry.getValue());
        });
        held.forEach((name, version) -> assertThat(holds(rig, version))
                .as("%s, seed %s", name, seed)
                .isTrue());
    }

    /** Pins, writes, evictions and reads at a time: no page is lost, and none stays. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void nothingSlipsFromOneSideToTheOther(int seed) throws Exception {
        CacheRig rig = CacheRig.of(leaks, 40);
        List<byte[]> objects = new ArrayList<>();
        List<ObjectVersion> stored = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            objects.add(random(seed + i, 2 * PAGE + i));
            stored.add(rig.source.put(id("key" + i), objects.get(i), "v" + i));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> workers = new ArrayList<>();
            for (int worker = 0; worker < 4; worker++) {
                Random random = new Random(seed * 31L + worker);
                workers.add(threads.submit(() -> disturb(rig, random, objects, stored)));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
        }
        rig.source.awaitAnswered();
        CacheControl control = rig.cache.control();
        control.pins().forEach(pin -> control.unpin(pin.selection()));
        assertThat(control.pinnedBytes()).isZero();
        control.evict(prefix(""));
        assertThat(rig.cache.stats().pages()).isZero();
        CacheRig.await(() -> rig.memory.stats().usedBytes() == 0);
    }

    @Test
    void whatIsRemovedWhileItIsBeingPinnedStaysRemoved() throws Exception {
        CacheRig rig = CacheRig.of(leaks, 40);
        Pins pins = new Pins(rig.memory, 0.5);
        PageIndex index = new PageIndex(rig.memory, CacheConfig.DEFAULT, pins);
        PageKey key = new PageKey(new ObjectVersion(id("a"), "1", "", PAGE), 0);
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> toggling = threads.submit(() -> {
                while (!over.get()) {
                    pins.add(key("a"));
                    index.settle(key("a"));
                    pins.remove(key("a"));
                    index.settle(key("a"));
                }
            });
            try {
                for (int i = 0; i < 30_000; i++) {
                    Page page = requireNonNull(
                            rig.memory.tryAllocate(new int[]{PAGE}, Pool.CACHE)).getFirst();
                    page.publish();
                    index.put(key, page, "");
                    index.remove(key, EvictionCause.INVALIDATED);
                    assertThat(index.peek(key)).as("round %s", i).isNull();
                }
            } finally {
                over.set(true);
            }
            toggling.get();
        }
        assertThat(pins.bytes()).isZero();
        assertThat(rig.memory.stats().usedBytes()).isZero();
    }

    private static void disturb(CacheRig rig, Random random, List<byte[]> objects,
            List<ObjectVersion> stored) {
        for (int step = 0; step < 150; step++) {
            int at = random.nextInt(KEYS);
            Selection some = random.nextInt(4) == 0 ? prefix("key") : key("key" + at);
            switch (random.nextInt(8)) {
                case 0 -> rig.cache.writes().begin(id("key" + at)).end(WriteOutcome.DONE);
                case 1 -> rig.cache.control().evict(some);
                case 2, 3 -> rig.cache.control().tryPin(some);
                case 4 -> rig.cache.control().unpin(some);
                default -> assertThat(rig.readAll(stored.get(at)).awaitBytes())
                        .isEqualTo(objects.get(at));
            }
        }
    }
}
