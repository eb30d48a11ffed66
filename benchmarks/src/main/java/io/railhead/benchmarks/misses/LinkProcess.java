package io.railhead.benchmarks.misses;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * {@link ThrottledProxy} as a process of its own: {@code LinkProcess PORT BITS_PER_SECOND
 * LATENCY_MILLIS}. It prints its port; then, for each line of input, how many bytes it has passed
 * to the store and from it.
 */
public final class LinkProcess {
    private LinkProcess() {}

    /** Runs until its input ends. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (ThrottledProxy proxy = new ThrottledProxy(Integer.parseInt(arguments[0]),
                Long.parseLong(arguments[1]), Double.parseDouble(arguments[2]))) {
            say(Integer.toString(proxy.port()));
            while (in.readLine() != null) {
                say(proxy.passed().up() + " " + proxy.passed().down());
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
