package io.railhead.cache.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.OsException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Power cuts before each write and each flush of a log in use. Some of what was not flushed is
 * kept, sector by sector.
 */
final class PowerCutTest {
    private static final int OPERATIONS = 120;
    /** Two of such descriptions fill a part of a snapshot, so that most snapshots have three. */
    private static final int LONG_DESCRIPTION = 5500;

    private final PowerCutDisk disk = new PowerCutDisk(LogRig.FILE);
    private final Set<String> issued = ConcurrentHashMap.newKeySet();
    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    private final Set<String> removing = ConcurrentHashMap.newKeySet();
    private final Set<String> removed = ConcurrentHashMap.newKeySet();
    private int cuts;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void whatWasAcknowledgedIsWholeAndNothingElseAppears(long seed) {
        Random random = new Random(seed);
        Random ofCuts = new Random(seed + 1000);
        try (WriteLog log = LogRig.open(disk)) {
            disk.before = () -> cutNow(ofCuts, seed);
            Map<String, LogEntry> held = new HashMap<>();
            for (int i = 0; i < OPERATIONS; i++) {
                if (held.size() > 4 && random.nextBoolean()) {
                    remove(log, held, random);
                } else {
                    put(log, held, "w" + seed + "-" + i, random.nextInt(30_000), 0);
                }
            }
        }
        assertThat(cuts).isGreaterThan(OPERATIONS);
    }

    /** An upload is completed: its own entry and a part left out go, and the whole takes over. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aCompletionThatIsCutOffLeavesTheUploadOrTheWholeObject(long seed) {
        Random random = new Random(seed);
        Random ofCuts = new Random(seed + 1000);
        try (WriteLog log = LogRig.open(disk)) {
            for (int i = 0; i < OPERATIONS / 8; i++) {
                disk.before = () -> {};
                Map<String, LogEntry> held = new HashMap<>();
                List<String> parts = List.of("a" + i, "b" + i, "out" + i);
                parts.forEach(name -> put(log, held, name, random.nextInt(30_000), 0));
                put(log, held, "upload" + i, 0, 0);
                disk.before = () -> cutCompletion(ofCuts);
                complete(log, held, "whole" + i + ":0:");
                disk.before = () -> {};
                LogRig.await(log.commit(List.of(), log.entries()));
            }
        }
        assertThat(cuts).isGreaterThan(OPERATIONS / 8);
    }

    private static void complete(WriteLog log, Map<String, LogEntry> held, String whole) {
        List<LogEntry> gone = held.entrySet()
                .stream()
                .filter(entry -> entry.getKey().startsWith("out")
                        || entry.getKey().startsWith("upload"))
                .map(Map.Entry::getValue)
                .toList();
        LogRig.await(log.commit(List.of(new WriteLog.Draft("", null,
                whole.getBytes(java.nio.charset.StandardCharsets.UTF_8))), gone));
    }

    private synchronized void cutCompletion(Random random) {
        cuts++;
        PowerCutDisk left = disk.cut(random);
        cutAgain(left, random);
        try (WriteLog recovered = LogRig.open(left)) {
            List<String> kinds = recovered.entries()
                    .stream()
                    .map(entry -> LogRig.name(entry).replaceAll("[0-9].*", ""))
                    .sorted()
                    .toList();
            assertThat(kinds).isIn(List.of("a", "b", "out", "upload"), List.of("a", "b", "whole"));
            recovered.entries().forEach(entry -> LogRig.requireWhole(recovered, entry));
        }
    }

    /** An object of parts is discarded: all its entries go, or none, and no other write's. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aDiscardThatIsCutOffLeavesTheWholeObjectOrNothingOfIt(long seed) {
        Random random = new Random(seed);
        Random ofCuts = new Random(seed + 1000);
        boolean[] isDone = {false};
        try (WriteLog log = LogRig.open(disk)) {
            for (int i = 0; i < OPERATIONS / 8; i++) {
                Map<String, LogEntry> held = new HashMap<>();
                List<String> parts = List.of("a" + i, "b" + i, "other" + i);
                parts.forEach(name -> put(log, held, name, random.nextInt(30_000), 0));
                put(log, held, "whole" + i, 0, 0);
                List<LogEntry> discarded = held.entrySet()
                        .stream()
                        .filter(entry -> !entry.getKey().startsWith("other"))
                        .map(Map.Entry::getValue)
                        .toList();
                isDone[0] = false;
                disk.before = () -> cutDiscard(ofCuts, isDone[0]);
                LogRig.await(log.commit(List.of(), discarded).thenAccept(_ -> isDone[0] = true));
                put(log, held, "other" + i + "-later", random.nextInt(100), 0);
                disk.before = () -> {};
                LogRig.await(log.commit(List.of(), log.entries()));
            }
        }
        assertThat(cuts).isGreaterThan(OPERATIONS / 8);
    }

    private synchronized void cutDiscard(Random random, boolean wasAnswered) {
        cuts++;
        PowerCutDisk left = disk.cut(random);
        cutAgain(left, random);
        try (WriteLog recovered = LogRig.open(left)) {
            List<String> kinds = recovered.entries()
                    .stream()
                    .map(entry -> LogRig.name(entry).replaceAll("[0-9].*", ""))
                    .filter(kind -> !kind.equals("other"))
                    .sorted()
                    .toList();
            assertThat(kinds).isIn(List.of("a", "b", "whole"), List.of());
            assertThat(kinds.isEmpty() || !wasAnswered).as("brought back").isTrue();
            assertThat(recovered.entries()).anyMatch(
                    entry -> LogRig.name(entry).startsWith("other"));
            recovered.entries().forEach(entry -> LogRig.requireWhole(recovered, entry));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aLogWhoseMakingWasCutOffIsMadeAgain(long seed) {
        Random ofCuts = new Random(seed);
        disk.before = () -> {
            cuts++;
            try (WriteLog made = LogRig.open(disk.cut(ofCuts))) {
                assertThat(made.entries()).isEmpty();
            }
        };
        LogRig.open(disk).close();
        assertThat(cuts).isGreaterThan(8);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aSnapshotOfManyPartsThatIsCutOffLeavesTheFormerEpoch(long seed) {
        Random random = new Random(seed);
        Random ofCuts = new Random(seed + 1000);
        try (WriteLog log = LogRig.open(disk)) {
            disk.before = () -> cutNow(ofCuts, seed);
            Map<String, LogEntry> held = new HashMap<>();
            for (int i = 0; i < OPERATIONS / 2; i++) {
                if (held.size() > 4) {
                    remove(log, held, random);
                } else {
                    put(log, held, "s" + seed + "-" + i, random.nextInt(100), LONG_DESCRIPTION);
                }
            }
        }
        assertThat(cuts).isGreaterThan(OPERATIONS / 2);
    }

    private void put(WriteLog log, Map<String, LogEntry> held, String name, int length,
            int padding) {
        String described = name + ":" + length + ":" + "x".repeat(padding);
        issued.add(described);
        var commit = LogRig.put(log, name, length, described)
                .thenApply(entries -> {
                    acknowledged.add(described);
                    return entries;
                });
        held.put(described, LogRig.await(commit).getFirst());
    }

    private void remove(WriteLog log, Map<String, LogEntry> held, Random random) {
        List<String> names = new ArrayList<>(held.keySet());
        String name = names.get(random.nextInt(names.size()));
        removing.add(name);
        LogRig.await(log.commit(List.of(), List.of(held.remove(name)))
                .thenAccept(_ -> removed.add(name)));
    }

    /** Recovers from a cut at this moment. */
    private synchronized void cutNow(Random random, long seed) {
        cuts++;
        Set<String> mustBe = Set.copyOf(acknowledged);
        Set<String> mustNotBe = Set.copyOf(removed);
        PowerCutDisk left = disk.cut(random);
        cutAgain(left, random);
        try (WriteLog recovered = LogRig.open(left)) {
            List<String> names = recovered.entries().stream().map(LogRig::name).toList();
            assertThat(names).as("seed %s, cut %s: the acknowledged", seed, cuts)
                    .containsAll(mustBe.stream().filter(name -> !removing.contains(name)).toList());
            assertThat(names).as("seed %s, cut %s: the removed", seed, cuts)
                    .noneMatch(mustNotBe::contains);
            assertThat(issued).as("seed %s, cut %s: the known", seed, cuts).containsAll(names);
            recovered.entries().forEach(entry -> LogRig.requireWhole(recovered, entry));
        }
    }

    /**
     * Has a flush of the recovery fail, and the next process find what was not flushed, some times.
     * Then the power fails once more.
     */
    private static void cutAgain(PowerCutDisk left, Random random) {
        for (int tries = random.nextInt(4); tries > 0; tries--) {
            left.goodSyncs = random.nextInt(3);
            try (WriteLog opened = LogRig.open(left)) {
                assertThat(opened.entries()).isNotNull();
            } catch (OsException _) {
                // The recovery needed another flush.
            }
        }
        left.lose(random);
        left.goodSyncs = Integer.MAX_VALUE;
    }
}
