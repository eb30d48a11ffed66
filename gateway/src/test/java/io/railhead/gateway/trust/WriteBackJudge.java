package io.railhead.gateway.trust;

import io.railhead.gateway.trust.Operation.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Holds the promises of {@code docs/write-back.md} against the reference store's histories. The
 * order of a key's versions is known only once the store has them. So reads and writes are noted,
 * and judged when nothing is pending any more ({@link #settled}). Times are of the bench's clock.
 *
 * <p> {@link #saw}: any thread. {@link #settled}: while nothing is asked.
 */
final class WriteBackJudge {
    /** The text of a refusal after which the request is never sent. */
    static final String WAITED = "the store does not have them yet";
    private static final String AT_DISK = "disk";
    private static final String AT_STORE = "store";

    private final ReferenceStore store;
    private final Queue<Sight> sights = new ConcurrentLinkedQueue<>();
    /** The ends of all writes, answered or not, by their marks. */
    private final Map<Long, Sight> writes = new ConcurrentHashMap<>();
    private final Map<String, Seen> seen = new HashMap<>();
    private final AtomicLong atDisk = new AtomicLong();
    private final AtomicLong readsOfPending = new AtomicLong();

    /** An operation as its client saw it, between two moments. */
    record Sight(Operation operation, Observation seen, long fromNanos, long toNanos) {

        boolean isAcknowledged() {
            return operation.kind().isWrite() && seen instanceof Observation.Written;
        }

        @Override
        public String toString() {
            return operation + " from " + fromNanos + " to " + toNanos;
        }
    }

    /** The newest version of a key that somebody knew of, by the time from which he did. */
    private record Seen(NavigableMap<Long, Integer> ranks) {
        Seen() {
            this(new TreeMap<>());
        }

        void add(long nanos, int rank) {
            if (before(nanos) < rank) {
                ranks.tailMap(nanos, true).values().removeIf(later -> later <= rank);
                ranks.put(nanos, rank);
            }
        }

        /** Returns the rank below which nothing may be read that was asked for then. */
        int before(long nanos) {
            Map.Entry<Long, Integer> known = ranks.lowerEntry(nanos);
            return known == null ? 0 : known.getValue();
        }
    }

    /** A key's versions in the store's order. A version's rank is the place of its first. */
    private record Ranked(String path, List<Version> history, Map<Long, Integer> ranks) {
        static Ranked of(String path, List<Version> history) {
            Map<Long, Integer> ranks = new HashMap<>();
            for (int i = 0; i < history.size(); i++) {
                ranks.putIfAbsent(history.get(i).mark(), i);
            }
            return new Ranked(path, history, ranks);
        }

        int rank(Version version) {
            return ranks.getOrDefault(version.mark(), 0);
        }

        @Nullable
        Version first(long mark) {
            Integer rank = ranks.get(mark);
            return rank == null ? null : history.get(rank);
        }

        /** Returns the rank of the newest that is such a one; -1 for none. */
        int newest(Predicate<Version> isIt) {
            return history.stream().filter(isIt).mapToInt(this::rank).max().orElse(-1);
        }
    }

    WriteBackJudge(ReferenceStore store) {
        this.store = store;
    }

    /** Returns how many writes were acknowledged at the disk. */
    long atDisk() {
        return atDisk.get();
    }

    /** Returns how many reads had an object before the store had it. */
    long readsOfPending() {
        return readsOfPending.get();
    }

    /** Notes what a client saw. Returns what is wrong with it at once; null for nothing. */
    @Nullable
    String saw(Sight sight) {
        sights.add(sight);
        if (sight.operation.kind().isWrite()) {
            writes.put(sight.operation.mark(), sight);
        }
        return switch (sight.seen) {
            case Observation.Wrong(String how) -> how;
            case Observation.Refused(String text, boolean _) -> "refused: " + text;
            case Observation.Written(String level) -> told(sight, level);
            default -> null;
        };
    }

    private @Nullable String told(Sight sight, String level) {
        return switch (level) {
            case AT_DISK -> {
                atDisk.incrementAndGet();
                yield null;
            }
            case AT_STORE -> atStore(sight)
                    ? null
                    : "I2: acknowledged at the store, which does not have it";
            default -> "no level of acknowledgement: '" + level + "'";
        };
    }

    private boolean atStore(Sight sight) {
        return store.history(sight.operation.path())
                .stream()
                .anyMatch(version -> isOf(sight.operation, version)
                        && version.fromNanos() <= sight.toNanos);
    }

    private static boolean isOf(Operation write, Version version) {
        boolean same = switch (write.kind()) {
            case DELETE -> version.content() == null;
            case COPY -> version.content() != null;
            default -> version.content() != null && version.content().equals(write.content());
        };
        return same && version.mark() == write.mark();
    }

    /** Judges everything that was seen since the last time. Nothing is pending, or under way. */
    List<String> settled() {
        List<String> wrong = new ArrayList<>();
        Map<String, Ranked> keys = new HashMap<>();
        store.paths("/").forEach(path -> keys.put(path, Ranked.of(path, store.history(path))));
        List<Sight> noted = List.copyOf(sights);
        sights.clear();
        keys.values().forEach(key -> inOrder(key, wrong));
        noted.stream()
                .filter(sight -> sight.operation.kind().isWrite())
                .forEach(write -> written(write, key(keys, write.operation.path()), wrong));
        buckets(noted, keys, wrong);
        noted.stream()
                .filter(sight -> sight.operation.kind() == Kind.COPY && sight.isAcknowledged())
                .forEach(copy -> copied(copy, noted, keys, wrong));
        noted.forEach(sight -> knownFrom(sight, key(keys, sight.operation.path())));
        noted.forEach(sight -> read(sight, keys, wrong));
        return wrong;
    }

    private static Ranked key(Map<String, Ranked> keys, String path) {
        return keys.computeIfAbsent(path, absent -> Ranked.of(absent, List.of(Version.ABSENT)));
    }

    /**
     * The last version is the last that came first, and writes that follow each other do so. One
     * without a clear answer may still be on its way to the store, as at any store.
     */
    private void inOrder(Ranked key, List<String> wrong) {
        Version last = key.history.getLast();
        if (key.rank(last) < key.newest(_ -> true)) {
            wrong.add("an older version was written over a newer one of " + key.path + ": "
                    + key.history);
        }
        Sight latest = null;
        for (int i = 0; i < key.history.size(); i++) {
            Sight write = writes.get(key.history.get(i).mark());
            if (write == null || key.rank(key.history.get(i)) != i) {
                continue;
            }
            if (latest != null && write.isAcknowledged() && write.toNanos < latest.fromNanos) {
                wrong.add("the store did " + write + " after " + latest + ": " + key.history);
            }
            latest = latest == null || write.fromNanos > latest.fromNanos ? write : latest;
        }
    }

    /** Requires that an acknowledged write is there, and that a refused one is not. */
    private static void written(Sight write, Ranked key, List<String> wrong) {
        Version version = key.first(write.operation.mark());
        if (write.isAcknowledged() && (version == null || !isOf(write.operation, version))) {
            wrong.add("I2: acknowledged, and never at the store: " + write + ", " + write.seen);
        } else if (version != null && isRefused(write)) {
            wrong.add("I2: refused, and done: " + write + ", " + write.seen);
        }
    }

    private static boolean isRefused(Sight write) {
        return write.operation.kind() == Kind.PUT_WITH_WRONG_CHECKSUM
                || (write.seen instanceof Observation.Failed(String how, boolean _)
                        && how.contains(WAITED));
    }

    /** The store has a bucket's writes in the order of their answers. */
    private static void buckets(List<Sight> noted, Map<String, Ranked> keys, List<String> wrong) {
        Map<String, List<Sight>> buckets = new TreeMap<>();
        noted.stream()
                .filter(Sight::isAcknowledged)
                .forEach(write -> buckets
                        .computeIfAbsent(write.operation.bucket(), _ -> new ArrayList<>())
                        .add(write));
        buckets.values().forEach(writes -> inOrder(writes, keys, wrong));
    }

    private static void inOrder(List<Sight> acknowledged, Map<String, Ranked> keys,
            List<String> wrong) {
        List<Sight> byEnd = new ArrayList<>(acknowledged);
        byEnd.sort(Comparator.comparingLong(Sight::toNanos));
        acknowledged.sort(Comparator.comparingLong(Sight::fromNanos));
        long latest = Long.MIN_VALUE;
        int ended = 0;
        for (Sight write : acknowledged) {
            while (byEnd.get(ended).toNanos < write.fromNanos) {
                latest = Math.max(latest, atStoreNanos(byEnd.get(ended++), keys, latest));
            }
            if (atStoreNanos(write, keys, latest) < latest) {
                wrong.add("the store had " + write + " before what was acknowledged before it");
            }
        }
    }

    /** Returns when the store first had a write; what it never had is found elsewhere. */
    private static long atStoreNanos(Sight write, Map<String, Ranked> keys, long otherwise) {
        Version version = key(keys, write.operation.path()).first(write.operation.mark());
        return version == null ? otherwise : version.fromNanos();
    }

    /** A copy is made of what its source is once all is there that was acknowledged before. */
    private static void copied(Sight copy, List<Sight> noted, Map<String, Ranked> keys,
            List<String> wrong) {
        long atNanos = atStoreNanos(copy, keys, Long.MAX_VALUE);
        noted.stream()
                .filter(write -> write.isAcknowledged() && write.toNanos < copy.fromNanos
                        && write.operation.path().equals(copy.operation.source())
                        && atStoreNanos(write, keys, Long.MIN_VALUE) > atNanos)
                .forEach(write -> wrong.add(copy + " is of what was before " + write));
    }

    /** Nobody may read an older version than one that was acknowledged, or read by somebody. */
    private void knownFrom(Sight sight, Ranked key) {
        int rank = switch (sight.seen) {
            case Observation.Written _ -> key.ranks.getOrDefault(sight.operation.mark(), 0);
            case Observation.Read read when read.mark() > 0 ->
                key.ranks.getOrDefault(read.mark(), 0);
            default -> 0;
        };
        seen.computeIfAbsent(key.path, _ -> new Seen()).add(sight.toNanos, rank);
    }

    private void read(Sight sight, Map<String, Ranked> keys, List<String> wrong) {
        switch (sight.seen) {
            case Observation.Read read -> {
                require(sight, keys, version -> isOf(sight, read, version), wrong);
                noteIfPending(sight, read, key(keys, sight.operation.path()));
            }
            case Observation.Cut(Observation.Read come, boolean _) ->
                require(sight, keys, version -> isOf(sight, come, version), wrong);
            case Observation.Described head -> require(sight, keys, version -> isOf(version,
                    head.etag(), head.mark(), head.sizeBytes()), wrong);
            case Observation.Absent _ when sight.operation.kind().isRead() ->
                require(sight, keys, version -> version.content() == null, wrong);
            case Observation.Unsatisfiable _ -> require(sight, keys,
                    version -> version.content() != null
                            && version.content().sizeBytes() <= sight.operation.first(),
                    wrong);
            case Observation.Listed(Map<String, String> etags) ->
                listed(sight, etags, keys, wrong);
            default -> {
                return;
            }
        }
    }

    private void noteIfPending(Sight sight, Observation.Read read, Ranked key) {
        Version version = key.first(read.mark());
        if (version != null && version.fromNanos() > sight.toNanos) {
            readsOfPending.incrementAndGet();
        }
    }

    private void require(Sight sight, Map<String, Ranked> keys, Predicate<Version> isIt,
            List<String> wrong) {
        require(sight, key(keys, sight.operation.path()), isIt, sight.seen.toString(), wrong);
    }

    private void require(Sight sight, Ranked key, Predicate<Version> isIt, String what,
            List<String> wrong) {
        int rank = key.newest(isIt);
        Seen known = seen.get(key.path);
        int atLeast = known == null ? 0 : known.before(sight.fromNanos);
        if (rank < atLeast) {
            wrong.add("I1: " + sight + " saw " + what + (rank < 0
                    ? ", which never was"
                    : ", version " + rank + ", and version " + atLeast + " was known before")
                    + ": " + key.history.subList(Math.max(0, key.history.size() - 6),
                            key.history.size()));
        }
    }

    private void listed(Sight sight, Map<String, String> etags, Map<String, Ranked> keys,
            List<String> wrong) {
        String bucket = "/" + sight.operation.bucket() + "/";
        Stream.concat(keys.keySet().stream().filter(path -> path.startsWith(bucket)),
                etags.keySet().stream().map(key -> bucket + key))
                .distinct()
                .toList()
                .forEach(path -> {
                    String etag = etags.getOrDefault(path.substring(bucket.length()), "");
                    require(sight, key(keys, path), version -> version.etag().equals(etag),
                            path + " listed as '" + etag + "'", wrong);
                });
    }

    private static boolean isOf(Version version, String etag, long mark, long sizeBytes) {
        Content content = version.content();
        return content != null && version.etag().equals(etag) && content.sizeBytes() == sizeBytes
                && (mark < 0 || mark == version.mark());
    }

    private static boolean isOf(Sight sight, Observation.Read read, Version version) {
        Content content = version.content();
        if (content == null || !isOf(version, read.etag(), read.mark(), read.sizeBytes())
                || !content.matches(read.bytes(), read.first())) {
            return false;
        }
        Operation asked = sight.operation;
        int end = read.first() + read.bytes().length;
        int to = asked.isRanged()
                ? Math.min(content.sizeBytes(), asked.first() + asked.length())
                : content.sizeBytes();
        boolean isCut = sight.seen instanceof Observation.Cut;
        boolean asAsked = read.first() == (asked.isRanged() ? asked.first() : 0)
                && (isCut ? end <= to : end == to);
        // A store may know no ranges, and is relayed.
        boolean all = read.way().isRelayed() && read.first() == 0
                && (isCut || end == content.sizeBytes());
        return asAsked || all;
    }
}
