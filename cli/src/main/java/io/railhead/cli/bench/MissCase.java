package io.railhead.cli.bench;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/** The cases in which misses, writes and starts are measured. */
@JsonFormat(shape = JsonFormat.Shape.OBJECT)
enum MissCase {
    COLD_GET("cold-get", "cold, one GET", 0.95),
    COLD_RANGES("cold-ranges", "cold, 8 ranges at a time", 0.95),
    SEQUENTIAL_256K("sequential-256k", "cold, 256 KiB after 256 KiB", 2),
    SEQUENTIAL_1M("sequential-1m", "cold, 1 MiB after 1 MiB", 2),
    PUT_SMALL("put-small", "PUT, a sixteenth", 0.95),
    PUT("put", "PUT", 0.95),
    PARTS("parts", "UploadPart, 4 at a time", 0.95),
    READERS("readers", "all readers of one cold object at a time", 0),
    START("start", "from exec to the first answer", 0);

    private static final int RANGES = 8;
    private static final int PARTS_AT_A_TIME = 4;
    private static final int SHARE = 16;
    private static final long MIB = 1 << 20;

    /** As {@code --only} has it. */
    @JsonProperty
    final String id;
    @JsonProperty
    final String label;
    /** Throughput of Railhead's, of the store's own; 0 where that is not the point. */
    @JsonProperty
    final double goal;

    MissCase(String id, String label, double goal) {
        this.id = id;
        this.label = label;
        this.goal = goal;
    }

    List<MeasuredSystem> contenders() {
        return switch (this) {
            case COLD_GET, COLD_RANGES, SEQUENTIAL_256K, SEQUENTIAL_1M ->
                List.of(MeasuredSystem.DIRECT, MeasuredSystem.RAILHEAD_SIGNED);
            case PUT_SMALL, PUT, PARTS ->
                List.of(MeasuredSystem.DIRECT, MeasuredSystem.RAILHEAD_SIGNED,
                        MeasuredSystem.RAILHEAD_TOKEN);
            case READERS -> List.of(MeasuredSystem.RAILHEAD_SIGNED);
            case START -> List.of();
        };
    }

    boolean writes() {
        return this == PUT_SMALL || this == PUT || this == PARTS;
    }

    /** Of the object. */
    long objectBytes(long bytes) {
        return switch (this) {
            case COLD_GET, COLD_RANGES, PUT, PARTS, START -> bytes;
            case SEQUENTIAL_256K, SEQUENTIAL_1M -> 2 * bytes / SHARE;
            case PUT_SMALL, READERS -> bytes / SHARE;
        };
    }

    int connections(int readers) {
        return switch (this) {
            case COLD_RANGES -> RANGES;
            case PARTS -> PARTS_AT_A_TIME;
            case READERS -> readers;
            default -> 1;
        };
    }

    /** Of one request. */
    long pieceBytes(long bytes) {
        long whole = objectBytes(bytes);
        return switch (this) {
            case COLD_RANGES -> Math.min(whole, 8 * MIB);
            case SEQUENTIAL_256K -> Math.min(whole, MIB / 4);
            case SEQUENTIAL_1M -> Math.min(whole, MIB);
            case PARTS -> whole / SHARE;
            default -> whole;
        };
    }

    /**
     * What the client does.
     *
     * @param upload of which parts are
     */
    OneShotRequest errand(long bytes, String upload) {
        long whole = objectBytes(bytes);
        OneShotRequest.Kind kind = switch (this) {
            case PUT_SMALL, PUT -> OneShotRequest.Kind.PUT;
            case PARTS -> OneShotRequest.Kind.PARTS;
            case READERS -> OneShotRequest.Kind.READ_EACH;
            default -> OneShotRequest.Kind.READ_TOGETHER;
        };
        return new OneShotRequest(kind, writes() ? "written" : BenchObject.key(whole),
                this == PARTS ? "uploadId=" + upload : "", whole, pieceBytes(bytes));
    }

    @Override
    public String toString() {
        return id;
    }
}
