package io.railhead.benchmarks.channel;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Hits over the native channel on RDMA verbs, timed by the peer that they are delivered to. The
 * gateway is {@link VerbsGateway} in a process of its own; {@code deploy/soft-roce/measure} runs
 * both.
 */
public final class VerbsHits {
    private static final String USAGE = """
            usage: VerbsHits ADDRESS HTTP_PORT
              ADDRESS    of the adapter that it receives on, 10.99.0.2 for example
              HTTP_PORT  as VerbsGateway printed it
            Reads lines, and answers each with one line of JSON; the input's end ends it:
              bandwidth BYTES DEPTH COUNT   COUNT hits of BYTES, DEPTH of them under way at a time
              latency BYTES COUNT           COUNT hits of BYTES, one after another
            After each, the first and last byte of every window are checked.""";

    private VerbsHits() {}

    /** Measures; see {@code --help}. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            print(USAGE);
            return;
        }
        URI gateway = URI.create("http://127.0.0.1:" + arguments[1]);
        try (VerbsBenchClient client = VerbsBenchClient.connect(gateway,
                InetAddress.getByName(arguments[0]));
                BufferedReader input = new BufferedReader(
                        new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            print("ready");
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                print(measure(client, line.split(" ")));
            }
        }
        System.exit(0);
    }

    private static String measure(VerbsBenchClient client, String[] words) throws IOException {
        int bytes = Integer.parseInt(words[1]);
        return switch (words[0]) {
            case "bandwidth" -> {
                int count = Integer.parseInt(words[3]);
                long nanos = client.pipeline(bytes, Integer.parseInt(words[2]), count);
                yield String.format(Locale.ROOT, "{\"mib_per_second\": %.2f}",
                        1e9 * bytes * count / nanos / (1 << 20));
            }
            case "latency" -> {
                Figures hits = client.oneByOne(bytes, Integer.parseInt(words[2]));
                yield String.format(Locale.ROOT, "{\"p50_us\": %.1f, \"p99_us\": %.1f}",
                        hits.p50Micros(), hits.p99Micros());
            }
            default -> throw new IllegalArgumentException("unknown: " + words[0]);
        };
    }

    private static void print(String line) {
        System.out.println(line);
    }
}
