import io.railhead.client.AwsSettings;
import io.railhead.client.Fallback;
import io.railhead.client.ObjectName;
import io.railhead.client.Part;
import io.railhead.client.RailheadClient;
import io.railhead.client.Read;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.Via;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Reader BUCKET SIZE COUNT SECONDS: as reader.c, by the Java client. */
final class Reader {
    private static final int PIECE_BYTES = 8 << 20;
    private static final int END = 8;

    private Reader() {}

    public static void main(String[] arguments) throws Exception {
        int size = Integer.parseInt(arguments[1]);
        int objects = Integer.parseInt(arguments[2]);
        double seconds = Double.parseDouble(arguments[3]);
        var config = new AwsSettings(System.getenv()).resolve(null, null, null).with(Via.LOOPBACK)
                .with(Fallback.NONE);
        try (RailheadClient client = RailheadClient.connect(config);
                RegisteredBuffer buffer = client.register((long) size * objects)) {
            List<Read> reads = new ArrayList<>();
            for (int i = 0; i < objects; i++) {
                ObjectName name = new ObjectName(arguments[0], size + "-" + i);
                for (int at = 0; at < size; at += PIECE_BYTES) {
                    reads.add(Read.of(name, at, Math.min(PIECE_BYTES, size - at), buffer,
                            (long) i * size + at));
                }
            }
            for (long end = System.nanoTime() + (long) (seconds / 2 * 1e9); System.nanoTime() < end;) {
                readAll(client, reads);
            }
            forEachEnd(size, objects, (_, at) -> buffer.memory().asSlice(at, END).fill((byte) 0));
            long cpu = cpuNanos();
            long begun = System.nanoTime();
            long bytes = 0;
            long taken = 0;
            for (; taken < seconds * 1e9; taken = System.nanoTime() - begun) {
                readAll(client, reads);
                bytes += (long) size * objects;
            }
            cpu = cpuNanos() - cpu;
            MemorySegment stored = MemorySegment
                    .ofArray(Files.readAllBytes(Path.of(System.getenv("READER_ENDS"))));
            forEachEnd(size, objects, (end, at) -> require(buffer.memory().asSlice(at, END)
                    .mismatch(stored.asSlice(end * END, END)) < 0,
                    "what was read is not what was stored"));
            require(client.declines().isEmpty(), "declined: " + client.declines());
            System.out.printf("{\"bytes\": %d, \"seconds\": %f, \"cpu\": %f}%n", bytes, taken / 1e9,
                    cpu / 1e9);
        }
    }

    private static void readAll(RailheadClient client, List<Read> reads) {
        List<? extends CompletionStage<Part>> parts = client.getAll(reads);
        for (int i = 0; i < parts.size(); i++) {
            require(parts.get(i).toCompletableFuture().join().bytes() == reads.get(i).bytes(),
                    "an object is too short");
        }
    }

    /** What is done with each object's first and last bytes, of which {@code end} is the number. */
    private interface End {
        void at(long end, long at);
    }

    private static void forEachEnd(long size, int objects, End what) {
        for (int i = 0; i < objects; i++) {
            what.at(2L * i, i * size);
            what.at(2L * i + 1, (i + 1) * size - END);
        }
    }

    private static void require(boolean right, String otherwise) {
        if (!right) {
            throw new IllegalStateException(otherwise);
        }
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory
                .getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
