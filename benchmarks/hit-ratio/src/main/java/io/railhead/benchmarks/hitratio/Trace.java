package io.railhead.benchmarks.hitratio;

import com.github.benmanes.caffeine.cache.simulator.parser.TraceFormat;
import com.github.benmanes.caffeine.cache.simulator.policy.AccessEvent;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A trace of requested pages, in order.
 *
 * @param cachePages of the cache that it is read through
 * @param pages their numbers; made, or read, each time
 */
record Trace(String name, String source, int cachePages, Supplier<long[]> pages) {

    /** Returns the simulator's own traces, at the sizes of its published results. */
    static List<Trace> bundled() {
        return List.of(
                bundled("CloudPhysics w106", TraceFormat.CLOUD_PHYSICS, "w106.trace.xz", 10_000),
                bundled("Scarab recommendations", TraceFormat.SCARAB, "scarab-recs.trace.xz",
                        25_000),
                bundled("Corda vault", TraceFormat.CORDA, "trace_vaultservice_large.gz", 2_000),
                bundled("Gradle build cache", TraceFormat.GRADLE, "build-cache.xz", 1_000),
                bundled("LIRS loop", TraceFormat.LIRS, "loop.trace.gz", 512),
                bundled("LIRS multi3", TraceFormat.LIRS, "multi3.trace.gz", 1_024),
                bundled("cache2k web12", TraceFormat.CACHE2K, "web12.trace.xz", 2_000));
    }

    private static Trace bundled(String name, TraceFormat format, String file, int cachePages) {
        return new Trace(name, "bundled", cachePages, () -> keys(format, file));
    }

    private static long[] keys(TraceFormat format, String file) {
        try (Stream<AccessEvent> events = format.readFiles(List.of(file)).events()) {
            return events.mapToLong(AccessEvent::key).toArray();
        }
    }
}
