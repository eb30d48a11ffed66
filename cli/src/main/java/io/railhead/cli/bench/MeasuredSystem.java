package io.railhead.cli.bench;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Arrays;
import java.util.stream.Stream;

/** A measured system, how it is requested, and which figures count for it. */
@JsonFormat(shape = JsonFormat.Shape.OBJECT)
enum MeasuredSystem {
    DIRECT("direct", "the store itself", MeasuredRun.Way.SIGNED, "none", "the store's"),
    RAILHEAD_SIGNED("railhead-signed", "Railhead, signed", MeasuredRun.Way.SIGNED, "immutable",
            "each verified; yes remembered"),
    RAILHEAD_UNSIGNED("railhead-unsigned", "Railhead, unsigned", MeasuredRun.Way.UNSIGNED,
            "immutable",
            "anonymous; yes remembered"),
    RAILHEAD_STRONG("railhead-strong", "Railhead, signed, strong", MeasuredRun.Way.SIGNED, "strong",
            "each verified; store asked"),
    RAILHEAD_TOKEN("railhead-token", "Railhead, token over loopback", MeasuredRun.Way.TOKEN,
            "immutable",
            "each verified; yes remembered"),
    RAILHEAD_NATIVE("railhead-native", "Railhead, native channel over loopback",
            MeasuredRun.Way.NATIVE,
            "immutable", "session proved; yes remembered"),
    COPY("copy", "one thread that only copies", MeasuredRun.Way.COPY, "none", "none"),
    NGINX("nginx", "nginx, sendfile", MeasuredRun.Way.UNSIGNED, "2 h", "none"),
    NGINX_COPY("nginx-copy", "nginx, sendfile off", MeasuredRun.Way.UNSIGNED, "2 h", "none"),
    VARNISH("varnish", "Varnish, malloc", MeasuredRun.Way.UNSIGNED, "2 h", "none"),
    TRAFFIC_SERVER("trafficserver", "Traffic Server, RAM cache", MeasuredRun.Way.UNSIGNED, "2 h",
            "none");

    private static final long LEAST_COPIED_BYTES = 64 << 10;

    /** As {@code --only} has it. */
    @JsonProperty
    final String id;
    @JsonProperty
    final String label;
    @JsonProperty
    final MeasuredRun.Way way;
    @JsonProperty
    final String freshness;
    @JsonProperty
    final String authorization;

    MeasuredSystem(String id, String label, MeasuredRun.Way way, String freshness,
            String authorization) {
        this.id = id;
        this.label = label;
        this.way = way;
        this.freshness = freshness;
        this.authorization = authorization;
    }

    /** All who can be measured by their hits, and what bounds those that copy. */
    static Stream<MeasuredSystem> caches() {
        return Arrays.stream(values()).filter(measuredSystem -> measuredSystem != DIRECT);
    }

    /** A copy of a few KiB takes less time than noting it. */
    boolean isMeasuredAt(long objectBytes) {
        return this != COPY || objectBytes >= LEAST_COPIED_BYTES;
    }

    /** Another HTTP cache. */
    boolean isPeer() {
        return !isRailhead() && this != DIRECT && this != COPY;
    }

    boolean isRailhead() {
        return id.startsWith("railhead");
    }

    /** Of this machine alone: no network in between, and none that there could be. */
    boolean isOneSided() {
        return way == MeasuredRun.Way.TOKEN || way == MeasuredRun.Way.NATIVE
                || way == MeasuredRun.Way.COPY;
    }

    String bucket() {
        return this == RAILHEAD_STRONG ? TestBed.STRONG_BUCKET : TestBed.BUCKET;
    }

    @Override
    public String toString() {
        return id;
    }
}
