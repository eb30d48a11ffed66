import io.railhead.client.AwsSettings;
import io.railhead.client.ObjectName;
import io.railhead.client.Part;
import io.railhead.client.RailheadClient;
import io.railhead.client.Read;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.Via;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Reader BUCKET SIZE COUNT SECONDS: as reader.c, by the Java client. */
final class Reader {
    private static final int PIECE_BYTES = 8 << 20;

    private Reader() {}

    public static void main(String[] arguments) throws Exception {
        int size = Integer.parseInt(arguments[1]);
        int objects = Integer.parseInt(arguments[2]);
        double seconds = Double.parseDouble(arguments[3]);
        var config = new AwsSettings(System.getenv()).resolve(null, null, null).with(Via.LOOPBACK);
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
            long cpu = cpuNanos();
            long begun = System.nanoTime();
            long bytes = 0;
            long taken = 0;
            for (; taken < seconds * 1e9; taken = System.nanoTime() - begun) {
                readAll(client, reads);
                bytes += (long) size * objects;
            }
            System.out.printf("{\"bytes\": %d, \"seconds\": %f, \"cpu\": %f}%n", bytes, taken / 1e9,
                    (cpuNanos() - cpu) / 1e9);
        }
    }

    private static void readAll(RailheadClient client, List<Read> reads) {
        for (CompletionStage<Part> each : client.getAll(reads)) {
            each.toCompletableFuture().join();
        }
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory
                .getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
