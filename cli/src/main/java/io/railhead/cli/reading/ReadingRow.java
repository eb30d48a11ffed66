package io.railhead.cli.reading;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * One line of the table and of the JSON.
 *
 * @param passes the passes over all objects, to which bytes and requests refer
 * @param gatewayCpuSPerGib null if the gateway's process is not local
 * @param backendRequests null if only the gateway's owner knows it
 * @param backendBytes of the store's responses; null as {@code backendRequests} is
 */
public record ReadingRow(String path, String fabric, String freshness, int passes, long bytes,
        double mibPerS,
        double p50Us, double p99Us,
        @JsonProperty("gateway_cpu_s_per_gib") @Nullable Double gatewayCpuSPerGib,
        @JsonProperty("client_cpu_s_per_gib") double clientCpuSPerGib,
        @Nullable Long backendRequests,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Long backendBytes) {
    private static final double MIB = 1 << 20;
    private static final double GIB = 1 << 30;

    static ReadingRow of(Path path, String freshness, ReadingResult readingResult,
            @Nullable StoreUsage storeUsage) {
        double gib = readingResult.bytes() / GIB;
        return new ReadingRow(path.label, path.fabric, freshness, readingResult.passes(),
                readingResult.bytes(),
                round(readingResult.bytes() / MIB / readingResult.seconds(), 3),
                round(readingResult.p50Us(), 1),
                round(readingResult.p99Us(), 1),
                storeUsage == null ? null : round(readingResult.gatewayCpuSeconds() / gib, 4),
                round(readingResult.cpuSeconds() / gib, 4),
                storeUsage == null ? null : storeUsage.requests(),
                storeUsage == null ? null : storeUsage.storeBytes());
    }

    private static double round(double value, int digits) {
        double scale = Math.pow(10, digits);
        return Math.round(value * scale) / scale;
    }

    /** Returns null if {@link #backendRequests} is null. */
    @Nullable
    Double requestsPerPass() {
        return backendRequests == null ? null : (double) backendRequests / passes;
    }

    boolean is(Path other) {
        return path.equals(other.label);
    }

    /** The measured paths. */
    public enum Path {
        DIRECT("direct", "http", "http"),
        JUST_STARTED("just-started", "http", "http"),
        COLD("cold", "http", "http"),
        DISK_HIT("disk-hit", "http", "http"),
        HTTP_HIT("http-hit", "http", "http"),
        RDMA_HIT("rdma-hit", "token", "loopback"),
        NATIVE_HIT("native-hit", "loopback", "loopback"),
        NATIVE_HIT_VERBS("native-hit", "verbs", "verbs"),
        RDMA_HIT_STRONG("rdma-hit-strong", "token", "loopback");

        final String label;
        final String via;
        final String fabric;

        Path(String label, String via, String fabric) {
            this.label = label;
            this.via = via;
            this.fabric = fabric;
        }
    }
}
