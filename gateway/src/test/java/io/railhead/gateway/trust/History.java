package io.railhead.gateway.trust;

import io.railhead.gateway.trust.Operation.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What is done, step by step, and what goes wrong meanwhile: drawn from a seed alone. The
 * operations of a step run at once, the steps one after the other.
 */
public final class History {
    public static final int KEYS = 10;
    /** An object, or what a client has registered for one operation, has no more. */
    public static final int MAX_BYTES = 320 << 10;
    public static final int PART_BYTES = MAX_BYTES + 64;
    public static final List<String> BUCKETS = List.of("strong", "bounded", "immutable",
            "exclusive");

    private static final int SPARE = 64;
    private static final int FAULTS_IN_100 = 20;
    private static final int FABRIC_FAULTS_IN_100 = 5;
    private static final FabricFault[] FABRIC_FAULTS = FabricFault.values();
    private static final int[] LARGEST = {0, 100, 1000, 4096, 4097, 20_000, 65_536, 70_000,
            200_000, MAX_BYTES};
    private static final Kind[] KINDS = kinds(History::often);
    private static final Kind[] WRITE_BACK_KINDS = kinds(History::oftenBeforeALog);

    private final long seed;
    private final int operationsPerStep;
    private final Fills fills;
    private final int objectsPerName;
    private final List<String> buckets;
    private final Kind[] kinds;
    private final SplittableRandom random;
    private int written;
    private int steps;

    /**
     * A step.
     *
     * @param fabric what adapters do to its transfers
     * @param later by how much the gateway's clock goes on before it
     * @param permitted whether the second principal may do anything again
     * @param denied a bucket where it may do nothing from then on; null: none
     */
    public record Step(int number, List<Operation> operations, FaultPlan plan,
            FabricFault fabric, Duration later, boolean permitted, @Nullable String denied,
            boolean peersLeave) {

        /** Whether an operation that fails may have been made to. */
        public boolean excuses(Kind kind) {
            return plan.excuses(kind) || (fabric != FabricFault.NONE && kind.isOneSided());
        }
    }

    public History(long seed, int operationsPerStep, Fills fills, Storage storage) {
        this(seed, operationsPerStep, fills, storage.objectsPerName(), BUCKETS, KINDS);
    }

    private History(long seed, int operationsPerStep, Fills fills, int objectsPerName,
            List<String> buckets, Kind[] kinds) {
        this.seed = seed;
        this.objectsPerName = objectsPerName;
        this.operationsPerStep = operationsPerStep;
        this.fills = fills;
        this.buckets = buckets;
        this.kinds = kinds;
        this.random = new SplittableRandom(seed);
    }

    /** A history of many uploads, in which nobody writes past the gateway. */
    static History beforeALog(long seed, int operationsPerStep, List<String> buckets) {
        return new History(seed, operationsPerStep, Fills.TRUSTED,
                Storage.MEMORY.objectsPerName(), buckets, WRITE_BACK_KINDS);
    }

    /** A history of some buckets alone. */
    static History ofBuckets(long seed, int operationsPerStep, List<String> buckets) {
        return new History(seed, operationsPerStep, Fills.TRUSTED,
                Storage.MEMORY.objectsPerName(), buckets, KINDS);
    }

    /** Each as often as it is drawn. */
    private static Kind[] kinds(ToIntFunction<Kind> often) {
        List<Kind> kinds = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            for (int i = 0; i < often.applyAsInt(kind); i++) {
                kinds.add(kind);
            }
        }
        return kinds.toArray(Kind[]::new);
    }

    private static int often(Kind kind) {
        return switch (kind) {
            case GET -> 26;
            case GET_BY_CHANNEL -> 20;
            case GET_BY_TOKEN -> 10;
            case HEAD -> 6;
            case PUT -> 7;
            case HEAD_BY_CHANNEL, PUT_BY_CHANNEL, PUT_BY_TOKEN, LIST, COPY, DELETE, PUT_BEHIND,
                    GET_AND_CANCEL ->
                3;
            case MULTIPART, GET_AND_LEAVE, DELETE_BEHIND, MARK_BEHIND -> 2;
            case PUT_WITH_WRONG_CHECKSUM -> 1;
        };
    }

    private static int oftenBeforeALog(Kind kind) {
        return switch (kind) {
            case GET, PUT -> 20;
            case GET_BY_CHANNEL -> 8;
            case HEAD, PUT_BY_CHANNEL, PUT_BY_TOKEN -> 6;
            case GET_BY_TOKEN, DELETE -> 5;
            case COPY -> 4;
            case LIST, MULTIPART, HEAD_BY_CHANNEL -> 3;
            case GET_AND_LEAVE, GET_AND_CANCEL, PUT_WITH_WRONG_CHECKSUM -> 1;
            case PUT_BEHIND, DELETE_BEHIND, MARK_BEHIND -> 0;
        };
    }

    public Step next() {
        int number = steps++;
        List<Operation> operations = new ArrayList<>();
        for (int slot = 0; slot < operationsPerStep; slot++) {
            operations.add(operation(slot));
        }
        FaultPlan plan = random.nextInt(100) < FAULTS_IN_100
                ? new FaultPlan(seed + number, toxic(), random.nextInt(4) == 0 ? 1 : 0.3)
                : FaultPlan.NONE;
        Duration later = random.nextInt(20) == 0
                ? Duration.ofSeconds(random.nextInt(1, 100))
                : Duration.ZERO;
        boolean permitted = random.nextInt(10) == 0;
        String denied = random.nextInt(25) == 0
                ? buckets.get(random.nextInt(buckets.size()))
                : null;
        boolean peersLeave = random.nextInt(200) == 0;
        FabricFault fabric = random.nextInt(100) < FABRIC_FAULTS_IN_100
                ? FABRIC_FAULTS[1 + random.nextInt(FABRIC_FAULTS.length - 1)]
                : FabricFault.NONE;
        return new Step(number, operations, plan, fabric, later, permitted, denied,
                peersLeave);
    }

    private Operation operation(int slot) {
        Kind kind = kinds[random.nextInt(kinds.length)];
        String bucket = buckets.get(random.nextInt(buckets.size()));
        if (kind.isBehind() && bucket.equals("exclusive")) {
            // Nobody writes there but through the gateway: that is what the rule vouches for.
            kind = Kind.GET;
        }
        int key = random.nextInt(KEYS);
        int largest = LARGEST[key];
        boolean ranged = random.nextInt(3) == 0;
        int first = ranged ? random.nextInt(largest + 1) : 0;
        // Who leaves asks for all of it.
        int length = ranged && kind != Kind.GET_AND_LEAVE ? 1 + random.nextInt(largest + 1) : 0;
        int size = largest == 0 ? 0 : random.nextInt(Content.BLOCK, largest + 1);
        int number = ++written;
        return new Operation(slot, kind, random.nextInt(2), "/" + bucket + "/" + key + end(),
                first, length, Content.create(number, size), number,
                "/" + bucket + "/" + random.nextInt(key + 1) + end(), largest + SPARE);
    }

    /** The end of a name, drawn only where there are several. */
    private String end() {
        return objectsPerName == 1 ? "" : "-" + random.nextInt(objectsPerName);
    }

    /** Objects of all names. */
    List<Named> before() {
        List<Named> objects = new ArrayList<>();
        for (String bucket : buckets) {
            for (int i = 0; i < KEYS * objectsPerName; i++) {
                int largest = LARGEST[i / objectsPerName];
                String end = objectsPerName == 1 ? "" : "-" + i % objectsPerName;
                objects.add(new Named(bucket, "/" + bucket + "/" + i / objectsPerName + end,
                        Content.create(++written, largest)));
            }
        }
        return objects;
    }

    /** An object that is there before the first step. */
    record Named(String bucket, String path, Content content) {}

    /** Pauses are shorter than the gateway waits, and longer. */
    private Toxic toxic() {
        // Drawn only where it may be, so that what the others do is what their seeds always did.
        if (fills == Fills.VERIFIED && random.nextBoolean()) {
            return new Toxic.CorruptByte(random.nextInt(MAX_BYTES));
        }
        int bytes = 1 + random.nextInt(40_000);
        return switch (random.nextInt(18)) {
            case 0 -> new Toxic.Latency(Duration.ofMillis(random.nextInt(50)));
            case 1 -> new Toxic.LateRequest(Duration.ofMillis(random.nextInt(100)));
            case 2 -> new Toxic.Slicer(1 + random.nextInt(5000), Duration.ZERO);
            case 3 -> new Toxic.Bandwidth(3_000_000);
            case 4 -> new Toxic.Stall(bytes, Duration.ofMillis(random.nextInt(100)));
            case 5 -> random.nextInt(10) == 0
                    ? new Toxic.Stall(bytes, Duration.ofSeconds(3))
                    : new Toxic.Stall(0, Duration.ofMillis(20));
            case 6 -> random.nextInt(10) == 0
                    ? new Toxic.LateRequest(Duration.ofSeconds(3))
                    : new Toxic.LateRequest(Duration.ofMillis(20));
            case 7 -> new Toxic.Reset(random.nextInt(3) == 0 ? 0 : bytes);
            case 8 -> new Toxic.Lost();
            case 9 -> new Toxic.Truncation(1 + random.nextInt(100));
            case 10 -> new Toxic.OtherLength(-1 - random.nextInt(100));
            case 11 -> new Toxic.OtherLength(1 + random.nextInt(100));
            case 12 -> random.nextBoolean()
                    ? new Toxic.ExtraBytes(1 + random.nextInt(100))
                    : new Toxic.SecondAnswer();
            case 13 -> new Toxic.ShiftedRange(1 + random.nextInt(100));
            case 14 -> new Toxic.IgnoredRange();
            case 15 -> new Toxic.ChangedEtag();
            case 16 -> new Toxic.Interim(random.nextBoolean() ? 100 : 103,
                    Duration.ofMillis(random.nextInt(50)));
            default -> new Toxic.SlowDown();
        };
    }
}
