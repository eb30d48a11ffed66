package io.railhead.gateway.trust;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Holds what clients saw against the reference store's histories and what each bucket was promised:
 * invariants I1 (only bytes of one version that one may read, no older than promised) and I2 (all
 * of them). Times are of the bench's clock.
 */
public final class Judge {
    private final ReferenceStore store;
    private final Map<String, Promise> promises;
    /** When the writes were answered, by their marks. */
    private final Map<Long, Long> answered = new ConcurrentHashMap<>();

    public Judge(ReferenceStore store, List<Promise> promises) {
        this.store = store;
        this.promises = new ConcurrentHashMap<>();
        promises.forEach(promise -> this.promises.put(promise.bucket(), promise));
    }

    /** What one client saw of one operation between two moments. */
    public record Sight(Operation operation, String accessKey, Observation seen, long fromNanos,
            long toNanos) {}

    /** What is wrong with it; null where nothing is. */
    public @Nullable String judge(Sight sight) {
        return switch (sight.seen) {
            case Observation.Read read -> orNotPermitted(sight, read(sight, read));
            case Observation.Described head -> orNotPermitted(sight, find(sight, head.toString(),
                    version -> matches(version, head.etag(), head.mark(), head.sizeBytes())));
            case Observation.Absent absent -> find(sight, absent.toString(),
                    version -> version.content() == null);
            case Observation.Unsatisfiable none -> find(sight, none.toString(),
                    version -> version.content() != null
                            && version.content().sizeBytes() <= sight.operation.first());
            case Observation.Written _ -> sight.operation.kind().isBehind() ? null : written(sight);
            case Observation.Listed(var etags) -> orNotPermitted(sight, listed(sight, etags));
            case Observation.Refused(String text, boolean begun) -> {
                String wrong = store.wasPermitted(sight.accessKey, false, sight.fromNanos,
                        sight.toNanos) ? null : "refused what is permitted: " + text;
                yield begun ? orNotPermitted(sight, wrong) : wrong;
            }
            case Observation.Declined _,Observation.Failed _ -> null;
            case Observation.Wrong(String how) -> how;
        };
    }

    private @Nullable String orNotPermitted(Sight sight, @Nullable String wrong) {
        long remembered = promise(sight).remembered().toNanos();
        return wrong == null && !store.wasPermitted(sight.accessKey, true,
                sight.fromNanos - remembered, sight.toNanos)
                        ? "I1: bytes for whom the store denies it"
                        : wrong;
    }

    private Promise promise(Sight sight) {
        return Objects.requireNonNull(promises.get(sight.operation.bucket()));
    }

    private static boolean matches(Version version, String etag, long mark, long sizeBytes) {
        Content content = version.content();
        return content != null && content.etag().equals(etag) && content.sizeBytes() == sizeBytes
                && (mark < 0 || mark == version.mark());
    }

    private @Nullable String read(Sight sight, Observation.Read read) {
        Operation asked = sight.operation;
        return find(sight, read.bytes().length + " bytes from " + read.first() + " of "
                + read.sizeBytes() + " as " + read.etag() + " with mark " + read.mark(),
                version -> {
                    if (!matches(version, read.etag(), read.mark(), read.sizeBytes())) {
                        return false;
                    }
                    Content content = Objects.requireNonNull(version.content());
                    int to = asked.isRanged()
                            ? Math.min(content.sizeBytes(), asked.first() + asked.length())
                            : content.sizeBytes();
                    boolean asAsked = read.first() == (asked.isRanged() ? asked.first() : 0)
                            && read.bytes().length == to - read.first();
                    // A store may know no ranges, and is relayed.
                    boolean all = read.first() == 0
                            && read.bytes().length == content.sizeBytes();
                    boolean whole = asAsked || all;
                    return (whole || read.clipped()) && content.matches(read.bytes(), read.first());
                });
    }

    /** One of the versions that may be seen must be what was seen. */
    private @Nullable String find(Sight sight, String seen, Predicate<Version> isIt) {
        return findIn(sight, sight.operation.path(), seen, isIt);
    }

    private @Nullable String findIn(Sight sight, String path, String seen,
            Predicate<Version> isIt) {
        List<Version> history = store.history(path);
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
        return "saw " + seen + " of " + path + ": "
                + (why == null ? "no version is that" : why) + "; history "
                + history.subList(Math.max(0, history.size() - 5), history.size());
    }

    /** Why this version may not be seen any more; null where it may. */
    private @Nullable String tooLate(Sight sight, List<Version> history, int at) {
        long staleness = sight.seen instanceof Observation.Listed
                ? 0
                : promise(sight).staleness().toNanos();
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

    private @Nullable String written(Sight sight) {
        Operation operation = sight.operation;
        for (Version version : store.history(operation.path())) {
            boolean during = version.fromNanos() >= sight.fromNanos
                    && version.fromNanos() <= sight.toNanos;
            boolean same = switch (operation.kind()) {
                case DELETE -> version.content() == null
                        && version.mark() == operation.mark();
                case COPY -> during && version.mark() == operation.mark();
                default -> version.mark() == operation.mark()
                        && Objects.equals(version.content(), operation.content());
            };
            if (same) {
                answered.putIfAbsent(operation.mark(), sight.toNanos);
                return null;
            }
        }
        return "I2: a write was answered that the store has not done";
    }

    private @Nullable String listed(Sight sight, Map<String, String> etags) {
        String bucket = sight.operation.bucket();
        for (String path : store.paths(bucket)) {
            String etag = etags.get(path.substring(bucket.length() + 2));
            String wrong = findIn(sight, path, "in a list " + etag,
                    version -> version.content() == null
                            ? etag == null
                            : version.content().etag().equals(etag));
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }
}
