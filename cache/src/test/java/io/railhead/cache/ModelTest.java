package io.railhead.cache;

import static io.railhead.cache.CacheRig.PAGE;
import static io.railhead.cache.CacheRig.RUN;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random gets, writes, evictions and kept leases against a plain map; the seed is the test's name.
 */
final class ModelTest {
    private static final int STEPS = 150;
    private static final int KEYS = 6;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final Map<ObjectId, byte[]> model = new HashMap<>();
    private final List<Received> kept = new ArrayList<>();
    private int versions;

    static List<Integer> seeds() {
        List<Integer> seeds = new ArrayList<>();
        for (int seed = 1; seed <= 25; seed++) {
            seeds.add(seed);
        }
        return seeds;
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void whatIsReadIsWhatWasWritten(int seed) {
        Random random = new Random(seed);
        CacheRig rig = CacheRig.of(leaks, 40);
        for (int key = 0; key < KEYS; key++) {
            write(rig, CacheRig.id("key" + key), random);
        }
        for (int step = 0; step < STEPS; step++) {
            ObjectId id = CacheRig.id("key" + random.nextInt(KEYS));
            switch (random.nextInt(10)) {
                case 0 -> write(rig, id, random);
                case 1 -> rig.cache.evict(id);
                case 2 -> keep(rig, id);
                case 3 -> letGo();
                default -> read(rig, id, random);
            }
        }
        letGo();
    }

    private void write(CacheRig rig, ObjectId id, Random random) {
        byte[] bytes = new byte[random.nextInt(2 * RUN)];
        random.nextBytes(bytes);
        Writes.Write write = rig.cache.writes().begin(id);
        rig.source.put(id, bytes, "v" + versions++);
        write.end(random.nextBoolean() ? WriteOutcome.DONE : WriteOutcome.UNKNOWN);
        model.put(id, bytes);
    }

    private ObjectVersion versionOf(CacheRig rig, ObjectId id) {
        ObjectMetadata known = rig.cache.find(id);
        if (known == null) {
            known = requireNonNull(rig.cache
                    .discover(id, "", rig.source.discovering(rig.cache, id, PAGE + 1))
                    .toCompletableFuture()
                    .join()
                    .metadata());
        }
        return known.version();
    }

    private void read(CacheRig rig, ObjectId id, Random random) {
        byte[] expected = requireNonNull(model.get(id));
        int from = random.nextInt(expected.length + 1);
        int to = from + random.nextInt(expected.length - from + 1);
        byte[] read = rig.read(versionOf(rig, id), from, to).awaitBytes();
        assertThat(Arrays.equals(read, Arrays.copyOfRange(expected, from, to))).isTrue();
    }

    /** Holds up to a page of leases; the bytes must stay, whatever is evicted meanwhile. */
    private void keep(CacheRig rig, ObjectId id) {
        byte[] expected = requireNonNull(model.get(id));
        int to = Math.min(expected.length, PAGE);
        Received received = rig.read(versionOf(rig, id), 0, to, Pool.CACHE, rig.source,
                Received.keeping());
        assertThat(received.awaitBytes()).isEqualTo(Arrays.copyOf(expected, to));
        kept.add(received);
        if (kept.size() > 8) {
            letGo();
        }
    }

    private void letGo() {
        for (Received received : kept) {
            assertThat(received.bytesOfKept()).isEqualTo(received.soFar());
            received.closeKept();
        }
        kept.clear();
    }
}
