package io.railhead.gateway.trust;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong with which requests. Drawn from the seed and from what is asked for how many
 * times, never from time or from the order in which requests happen to come: a seed replays.
 */
public final class FaultPlan {
    /** Nothing goes wrong. */
    public static final FaultPlan NONE = new FaultPlan(0, null, 0);

    private final long seed;
    private final @Nullable Toxic toxic;
    private final double probability;
    private final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();

    /** @param probability that it happens to a request which it concerns */
    public FaultPlan(long seed, @Nullable Toxic toxic, double probability) {
        this.seed = seed;
        this.toxic = toxic;
        this.probability = probability;
    }

    /** To every request that it concerns. */
    public static FaultPlan always(Toxic toxic) {
        return new FaultPlan(0, toxic, 1);
    }

    public boolean isFaulty() {
        return toxic != null;
    }

    @Nullable
    Toxic next(Message request) {
        if (toxic == null || !toxic.concerns(request)) {
            return null;
        }
        String what = request.method() + request.target() + request.header("range");
        int times = asked.computeIfAbsent(what, ignored -> new AtomicInteger()).incrementAndGet();
        double drawn = new SplittableRandom(seed * 31 + what.hashCode() * 0x9E3779B97F4A7C15L
                + times).nextDouble();
        return drawn < probability ? toxic : null;
    }

    @Override
    public String toString() {
        return toxic == null ? "no fault" : toxic + " at " + probability;
    }
}
