package io.railhead.gateway.trust;

import io.railhead.gateway.trust.Operation.Kind;
import java.time.Duration;
import java.util.List;
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

    private static final double EVERY_OTHER = -1;
    private static final Duration SHORT = Duration.ofMillis(100);
    /** Of an object of the model's, so that writing them takes no time to speak of. */
    private static final int FEW_SLICES = 1000;

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

    /** To the first of each that are the same, the third and so on: once, where it is retried. */
    public static FaultPlan everyOther(Toxic toxic) {
        return new FaultPlan(0, toxic, EVERY_OTHER);
    }

    /** To every request that it concerns. */
    public static FaultPlan always(Toxic toxic) {
        return new FaultPlan(0, toxic, 1);
    }

    /** Whether an operation that fails may have been made to. */
    boolean excuses(Kind kind) {
        return toxic != null && !isOnlySlow(toxic) && toxic.concerns(requestOf(kind));
    }

    /** Far shorter than the gateway waits. */
    private static boolean isOnlySlow(Toxic toxic) {
        return switch (toxic) {
            case Toxic.Latency(Duration delay) -> delay.compareTo(SHORT) <= 0;
            case Toxic.LateRequest(Duration delay) -> delay.compareTo(SHORT) <= 0;
            case Toxic.Interim(_, Duration between) -> between.compareTo(SHORT) <= 0;
            case Toxic.Stall(_, Duration time) -> time.compareTo(SHORT) <= 0;
            case Toxic.Slicer(int bytes, Duration between) ->
                bytes >= FEW_SLICES && between.isZero();
            default -> false;
        };
    }

    /** As the store may see it. */
    private static Message requestOf(Kind kind) {
        return switch (kind) {
            case GET, GET_BY_TOKEN, GET_BY_CHANNEL, GET_AND_LEAVE, GET_AND_CANCEL ->
                request("GET", "/").with("Range", "bytes=0-0").with("If-Match", "\"\"");
            case LIST -> request("GET", "/?list-type=2");
            default -> request("PUT", "/");
        };
    }

    private static Message request(String method, String target) {
        return new Message(method + " " + target + " HTTP/1.1", List.of(), new byte[0]);
    }

    @Nullable
    Toxic next(Message request) {
        if (toxic == null || !toxic.concerns(request)) {
            return null;
        }
        String what = request.method() + request.target() + request.header("range");
        int times = asked.computeIfAbsent(what, ignored -> new AtomicInteger()).incrementAndGet();
        if (probability == EVERY_OTHER) {
            return times % 2 == 1 ? toxic : null;
        }
        double drawn = new SplittableRandom(seed * 31 + what.hashCode() * 0x9E3779B97F4A7C15L
                + times).nextDouble();
        return drawn < probability ? toxic : null;
    }

    @Override
    public String toString() {
        return toxic == null ? "no fault" : toxic + " at " + probability;
    }
}
