package io.railhead.benchmarks.channel;

import com.sun.management.ThreadMXBean;
import io.railhead.gateway.config.ConfigException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A gateway that holds one object and serves it on an RDMA adapter, for {@link VerbsHits}. */
public final class VerbsGateway {
    static final int OBJECT_BYTES = 16 << 20;

    private static final String USAGE = """
            usage: VerbsGateway ADDRESS
              ADDRESS  of the adapter that it serves on, 10.99.0.1 for example
            Prints the port of its HTTP listener. Each line that it then reads is answered with
            what its pollers have allocated (bytes) and how long they ran (ns) so far, as JSON; the
            input's end ends it.""";

    private VerbsGateway() {}

    /** Serves; see {@code --help}. */
    public static void main(String[] arguments) throws IOException, ConfigException {
        if (arguments.length != 1 || arguments[0].equals("--help")) {
            print(USAGE);
            return;
        }
        try (HitSite site = HitSite.openVerbs(OBJECT_BYTES, arguments[0]);
                BufferedReader input = new BufferedReader(
                        new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            print(Integer.toString(site.gateway().port()));
            while (input.readLine() != null) {
                print(spent());
            }
        }
        // Pools of clients may keep threads for a while.
        System.exit(0);
    }

    private static String spent() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] pollers = Thread.getAllStackTraces()
                .keySet()
                .stream()
                .filter(thread -> thread.getName().startsWith("verbs-poller"))
                .mapToLong(Thread::threadId)
                .toArray();
        return "{\"allocated_bytes\": "
                + Arrays.stream(threads.getThreadAllocatedBytes(pollers)).sum()
                + ", \"cpu_nanos\": " + Arrays.stream(threads.getThreadCpuTime(pollers)).sum()
                + "}";
    }

    private static void print(String line) {
        System.out.println(line);
    }
}
