package io.railhead.backend.aws;

import io.railhead.backend.Target;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Failures of one endpoint: the last outcome of each object that was requested there since the
 * first failure. One object is no evidence, however often it fails. Several are, once most of the
 * requested objects fail. Not thread-safe.
 */
final class FailureEvidence {
    private static final int MOST = 64;
    private static final long REMEMBERED_NANOS = Duration.ofMinutes(1).toNanos();

    private final int enough;
    private final Map<Target, Outcome> outcomes = new LinkedHashMap<>();

    private record Outcome(boolean failed, long atNanos) {}

    /** @param enough the number of distinct objects that must have failed */
    FailureEvidence(int enough) {
        this.enough = enough;
    }

    boolean isEmpty() {
        return outcomes.isEmpty();
    }

    void failed(Target target, long nowNanos) {
        outcomes.values().removeIf(old -> nowNanos - old.atNanos > REMEMBERED_NANOS);
        add(target, new Outcome(true, nowNanos));
    }

    /** Notes a response. Nothing is kept while nothing has failed. */
    void answered(Target target, long nowNanos) {
        if (!outcomes.isEmpty()) {
            add(target, new Outcome(false, nowNanos));
        }
        if (failures() == 0) {
            outcomes.clear();
        }
    }

    private void add(Target target, Outcome outcome) {
        Target object = new Target(target.bucket(), target.rawKey(), null);
        outcomes.remove(object);
        outcomes.put(object, outcome);
        if (outcomes.size() > MOST) {
            outcomes.remove(outcomes.keySet().iterator().next());
        }
    }

    boolean isEnough() {
        int failures = failures();
        return failures >= enough && 2 * failures > outcomes.size();
    }

    private int failures() {
        return (int) outcomes.values().stream().filter(Outcome::failed).count();
    }

    void clear() {
        outcomes.clear();
    }
}
