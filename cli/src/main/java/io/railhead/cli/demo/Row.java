package io.railhead.cli.demo;

import com.fasterxml.jackson.annotation.JsonProperty;

/** One line of the table and of the JSON. */
record Row(String path, String fabric, String freshness, long bytes, double mibPerS, double p50Us,
        double p99Us, @JsonProperty("gateway_cpu_s_per_gib") double gatewayCpuSPerGib,
        @JsonProperty("client_cpu_s_per_gib") double clientCpuSPerGib, long backendRequests) {
    private static final double MIB = 1 << 20;
    private static final double GIB = 1 << 30;

    static Row of(Path path, Measured measured, double gatewayCpuSeconds, long backendRequests) {
        double gib = measured.bytes() / GIB;
        return new Row(path.label, path.fabric, path.freshness, measured.bytes(),
                round(measured.bytes() / MIB / measured.seconds(), 1), round(measured.p50Us(), 1),
                round(measured.p99Us(), 1), round(gatewayCpuSeconds / gib, 4),
                round(measured.cpuSeconds() / gib, 4), backendRequests);
    }

    private static double round(double value, int digits) {
        double scale = Math.pow(10, digits);
        return Math.round(value * scale) / scale;
    }

    /** The ways that the demo reads. */
    enum Path {
        DIRECT("direct", "http", "http", "none"),
        COLD("cold", "http", "http", "immutable"),
        HTTP_HIT("http-hit", "http", "http", "immutable"),
        RDMA_HIT("rdma-hit", "token", "loopback", "immutable"),
        NATIVE_HIT("native-hit", "loopback", "loopback", "immutable"),
        NATIVE_HIT_VERBS("native-hit", "verbs", "verbs", "immutable"),
        RDMA_HIT_STRONG("rdma-hit-strong", "token", "loopback", "strong");

        final String label;
        final String via;
        final String fabric;
        final String freshness;

        Path(String label, String via, String fabric, String freshness) {
            this.label = label;
            this.via = via;
            this.fabric = fabric;
            this.freshness = freshness;
        }
    }
}
