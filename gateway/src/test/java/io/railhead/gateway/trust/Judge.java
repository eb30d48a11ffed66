package io.railhead.gateway.trust;

import io.railhead.gateway.trust.Observation.Way;
import io.railhead.gateway.trust.Operation.Kind;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Holds what clients saw against the reference store's histories and what each bucket was promised:
 * invariants I1 (only bytes of one version that one may read, no older than promised) and I2 (all
 * of them). Times are of the bench's clock.
 */
public final class Judge {
    /** Of the gateway's cache. */
    public static final int PAGE_BYTES = 64 << 10;

    /** How long at most it may be remembered that there was nothing. */
    private static final Duration ABSENT = Duration.ofSeconds(5);

    private final ReferenceStore store;
    private final Map<String, Promise> promises;
    /** When the writes were answered, by their marks. */
    private final Map<Long, Long> answered = new ConcurrentHashMap<>();
    /** By version: when who saw all of it had, and when they had begun. */
    private final Map<String, NavigableMap<Long, Long>> whole = new ConcurrentHashMap<>();
    /** Who began before then may have seen another entry of the cache. */
    private volatile long dividedNanos = Long.MIN_VALUE;

    public Judge(ReferenceStore store, List<Promise> promises) {
        this.store = store;
        this.promises = new ConcurrentHashMap<>();
        promises.forEach(promise -> this.promises.put(promise.bucket(), promise));
    }

    /** What one client saw of one operation between two moments. */
    public record Sight(Operation operation, String accessKey, Observation seen, long fromNanos,
            long toNanos) {}

    /**
     * Principals that shared objects get entries of their own, or share again: an entry that was
     * verified says nothing of another one until {@link #divided}.
     */
    public void dividing() {
        dividedNanos = Long.MAX_VALUE;
    }

    /** Who begins from then on sees one entry. */
    public void divided(long atNanos) {
        dividedNanos = atNanos;
    }

    /** What is wrong with it; null where nothing is. */
    public @Nullable String judge(Sight sight) {
        String wrong = wrong(sight);
        return wrong != null || isPermitted(sight)
                ? wrong
                : "I1: the store denies it: " + sight.seen;
    }

    private @Nullable String wrong(Sight sight) {
        return switch (sight.seen) {
            case Observation.Read read -> read(sight, read);
            case Observation.Cut(Observation.Read come, boolean _) -> readWrong(sight, come);
            case Observation.Described head -> find(sight, head.toString(),
                    version -> matches(version, head.etag(), head.mark(), head.sizeBytes()));
            case Observation.Absent _ -> absent(sight);
            case Observation.Unsatisfiable none -> find(sight, none.toString(),
                    version -> version.content() != null
                            && version.content().sizeBytes() <= sight.operation.first());
            case Observation.Written _ -> sight.operation.kind().isBehind() ? null : written(sight);
            case Observation.Listed(var etags) -> listed(sight, etags);
            case Observation.Refused(String text, boolean _) ->
                was(false, sight, Duration.ZERO) ? null : "refused what is permitted: " + text;
            case Observation.Declined _,Observation.Failed _ -> null;
            case Observation.Wrong(String how) -> how;
        };
    }

    private boolean isPermitted(Sight sight) {
        Duration remembered = promise(sight).remembered();
        return switch (sight.seen) {
            case Observation.Read _,Observation.Cut _,Observation.Described _ ->
                was(true, sight, remembered);
            case Observation.Unsatisfiable _,Observation.Listed _ ->
                was(true, sight, remembered);
            case Observation.Absent _ -> was(true, sight, shorter(remembered, ABSENT));
            case Observation.Written _ ->
                sight.operation.kind().isBehind() || was(true, sight, remembered);
            case Observation.Refused(String _, boolean begun) ->
                !begun || was(true, sight, remembered);
            case Observation.Declined(String _, boolean begun) ->
                !begun || was(true, sight, remembered);
            case Observation.Failed(String _, boolean begun) ->
                !begun || was(true, sight, remembered);
            case Observation.Wrong _ -> true;
        };
    }

    private boolean was(boolean permitted, Sight sight, Duration remembered) {
        return store.wasPermitted(sight.accessKey, sight.operation.path(), permitted,
                sight.fromNanos - remembered.toNanos(), sight.toNanos);
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** What only the store can do or say asks it, whatever was promised. */
    private Promise promise(Sight sight) {
        String bucket = sight.operation.bucket();
        return sight.operation.kind().isRead()
                ? Objects.requireNonNull(promises.get(bucket))
                : Promise.strong(bucket);
    }

    private static boolean matches(Version version, String etag, long mark, long sizeBytes) {
        Content content = version.content();
        return content != null && version.etag().equals(etag) && content.sizeBytes() == sizeBytes
                && (mark < 0 || mark == version.mark());
    }

    private @Nullable String read(Sight sight, Observation.Read read) {
        String wrong = readWrong(sight, read);
        if (wrong == null && read.bytes().length == read.sizeBytes() && !read.way().isRelayed()) {
            whole.computeIfAbsent(version(sight, read), ignored -> new ConcurrentSkipListMap<>())
                    .merge(sight.toNanos, sight.fromNanos, Math::max);
        }
        return wrong;
    }

    private @Nullable String readWrong(Sight sight, Observation.Read read) {
        Operation asked = sight.operation;
        return find(sight, read.bytes().length + " bytes from " + read.first() + " of "
                + read.sizeBytes() + " as " + read.etag() + " with mark " + read.mark() + " "
                + read.way(),
                version -> {
                    if (!matches(version, read.etag(), read.mark(), read.sizeBytes())) {
                        return false;
                    }
                    Content content = Objects.requireNonNull(version.content());
                    int to = asked.isRanged()
                            ? Math.min(content.sizeBytes(), asked.first() + asked.length())
                            : content.sizeBytes();
                    boolean asAsked = read.first() == (asked.isRanged() ? asked.first() : 0)
                            && isUpTo(to, sight, read);
                    // A store may know no ranges, and is relayed.
                    boolean all = read.way() == Way.RELAYED && read.first() == 0
                            && isUpTo(content.sizeBytes(), sight, read);
                    return (asAsked || all) && isOf(content, sight, read);
                });
    }

    private static boolean isUpTo(int end, Sight sight, Observation.Read read) {
        int come = read.first() + read.bytes().length;
        return sight.seen instanceof Observation.Cut ? come <= end : come == end;
    }

    /**
     * Bytes are verified once all pages of an object have come: who reads a part meanwhile may see
     * bits that have changed on the way, but none from before somebody saw all of it. What is not
     * kept is not verified: those that changed on its own way.
     */
    private boolean isOf(Content content, Sight sight, Observation.Read read) {
        if (content.matches(read.bytes(), read.first())) {
            return true;
        }
        boolean relayed = read.way().isRelayed();
        long since = relayed ? sight.fromNanos : wholeSince(sight, read);
        return (relayed || !isOfAllPages(read)) && content.matches(
                store.righted(store.place(sight.operation), content, read.bytes(), read.first(),
                        since),
                read.first());
    }

    private static boolean isOfAllPages(Observation.Read read) {
        long last = (read.sizeBytes() - 1) / PAGE_BYTES;
        return read.first() < PAGE_BYTES
                && read.first() + read.bytes().length > last * PAGE_BYTES;
    }

    private String version(Sight sight, Observation.Read read) {
        return store.place(sight.operation) + " " + read.etag();
    }

    /** When the last one began who saw all of it, through the cache, before this was asked for. */
    private long wholeSince(Sight sight, Observation.Read read) {
        return whole.getOrDefault(version(sight, read), Collections.emptyNavigableMap())
                .headMap(sight.fromNanos)
                .values()
                .stream()
                .filter(begun -> begun >= dividedNanos)
                .max(Long::compare)
                .orElse(Long.MIN_VALUE);
    }

    /** One of the versions that may be seen must be what was seen. */
    private @Nullable String find(Sight sight, String seen, Predicate<Version> isIt) {
        return findIn(sight, store.place(sight.operation), seen, isIt);
    }

    private @Nullable String findIn(Sight sight, String place, String seen,
            Predicate<Version> isIt) {
        List<Version> history = store.history(place);
        String why = null;
        for (int i = history.size() - 1; i >= 0; i--) {
            Version version = history.get(i);
            if (!isIt.test(version)) {
                continue;
            }
            String late = tooLate(sight, history, i);
            if (late == null) {
                return null;
            }
            // What is wrong with the newest that it could be says most.
            why = why == null ? late : why;
        }
        return "saw " + seen + " of " + place + ": "
                + (why == null ? "no version is that" : why) + "; history "
                + history.subList(Math.max(0, history.size() - 5), history.size());
    }

    /** Why this version may not be seen any more; null where it may. */
    private @Nullable String tooLate(Sight sight, List<Version> history, int at) {
        Duration promised = promise(sight).staleness();
        long staleness = switch (sight.seen) {
            case Observation.Absent _ -> shorter(promised, ABSENT).toNanos();
            default -> promised.toNanos();
        };
        if (at + 1 < history.size()
                && history.get(at + 1).fromNanos() < sight.fromNanos - staleness) {
            return "it was replaced " + (sight.fromNanos - history.get(at + 1).fromNanos())
                    + " ns before";
        }
        for (Version later : history.subList(at + 1, history.size())) {
            Long answer = later.behind() ? null : answered.get(later.mark());
            // What an attempt wrote after another had been answered nobody was told of.
            if (answer != null && later.fromNanos() <= answer && answer < sight.fromNanos) {
                return "a write through the gateway was answered before: " + later;
            }
        }
        return null;
    }

    /** A copy is told it of its source; who reads nothing is never told it. */
    private @Nullable String absent(Sight sight) {
        Operation operation = sight.operation;
        boolean isCopy = operation.kind() == Kind.COPY;
        return isCopy || operation.kind().isRead()
                ? findIn(sight,
                        store.place(operation, isCopy ? operation.source() : operation.path()),
                        "nothing",
                        version -> version.content() == null)
                : "I2: told that there is nothing, and did not ask for it";
    }

    private @Nullable String written(Sight sight) {
        Operation operation = sight.operation;
        for (Version version : store.history(store.place(operation))) {
            boolean same = switch (operation.kind()) {
                case DELETE -> version.content() == null;
                case COPY -> version.fromNanos() >= sight.fromNanos
                        && isOfSource(sight, version.content());
                default -> Objects.equals(version.content(), operation.content());
            };
            if (same && version.mark() == operation.mark()
                    && version.fromNanos() <= sight.toNanos) {
                answered.putIfAbsent(operation.mark(), sight.toNanos);
                return null;
            }
        }
        return "I2: a write was answered that the store has not done";
    }

    /** Whether that was what is copied when it was: before it, where it is copied onto itself. */
    private boolean isOfSource(Sight sight, @Nullable Content copied) {
        List<Version> history = store
                .history(store.place(sight.operation, sight.operation.source()));
        for (int i = 0; i < history.size(); i++) {
            Version version = history.get(i);
            boolean meanwhile = version.fromNanos() <= sight.toNanos && (i + 1 == history.size()
                    || history.get(i + 1).fromNanos() >= sight.fromNanos);
            if (meanwhile && version.mark() != sight.operation.mark()
                    && Objects.equals(version.content(), copied)) {
                return true;
            }
        }
        return false;
    }

    private @Nullable String listed(Sight sight, Map<String, String> etags) {
        String bucket = store.place(sight.operation, "/" + sight.operation.bucket() + "/");
        List<String> paths = store.paths(bucket);
        for (String key : etags.keySet()) {
            if (!paths.contains(bucket + key)) {
                return "I1: a list names what never was: " + key;
            }
        }
        for (String path : paths) {
            String etag = etags.get(path.substring(bucket.length()));
            String wrong = findIn(sight, path, "in a list " + etag,
                    version -> version.content() == null
                            ? etag == null
                            : version.etag().equals(etag));
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }
}
