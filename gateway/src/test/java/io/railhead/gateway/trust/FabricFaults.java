package io.railhead.gateway.trust;

import io.railhead.rdma.RemoteBuffer;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Which work requests meet a step's fault. Drawn from the seed, from where in its page the peer's
 * buffer begins, and from how often that was drawn before, never from time: a seed replays.
 */
public final class FabricFaults {
    private static final int PAGE = 4096;

    private final LongAdder injected = new LongAdder();
    private volatile Plan plan = new Plan(0, FabricFault.NONE, 0, Map.of());

    private record Plan(long seed, FabricFault fault, double probability,
            Map<Long, AtomicInteger> drawn) {}

    /** From now on, to work that has not begun. */
    public void plan(long seed, FabricFault fault, double probability) {
        plan = new Plan(seed, fault, probability, new ConcurrentHashMap<>());
    }

    /** How often something went wrong. */
    public long injected() {
        return injected.sum();
    }

    boolean isDown(RemoteBuffer buffer) {
        Plan now = plan;
        return now.fault == FabricFault.DOWN && draw(now, buffer) != FabricFault.NONE;
    }

    FabricFault ofWork(RemoteBuffer buffer) {
        Plan now = plan;
        return now.fault == FabricFault.DOWN ? FabricFault.NONE : draw(now, buffer);
    }

    private FabricFault draw(Plan now, RemoteBuffer buffer) {
        if (now.fault == FabricFault.NONE) {
            return FabricFault.NONE;
        }
        long place = buffer.address() % PAGE;
        int times = now.drawn.computeIfAbsent(place, ignored -> new AtomicInteger())
                .incrementAndGet();
        double drawn = new SplittableRandom(
                now.seed * 31 + place * 0x9E3779B97F4A7C15L + times).nextDouble();
        if (drawn >= now.probability) {
            return FabricFault.NONE;
        }
        injected.increment();
        return now.fault;
    }
}
