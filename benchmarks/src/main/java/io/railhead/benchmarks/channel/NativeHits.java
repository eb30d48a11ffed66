package io.railhead.benchmarks.channel;

import com.sun.management.ThreadMXBean;
import io.railhead.gateway.config.ConfigException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * Hits of 4 KiB, rule {@code immutable}, over the native channel on loopback and over HTTP on kept
 * connections, taking turns in one run. The gateway and its clients share this process and machine.
 */
public final class NativeHits {
    private static final int OBJECT_BYTES = 4096;
    private static final int CONNECTIONS = 16;
    private static final int BATCHES = 4;
    private static final int BATCH_REQUESTS = 32;
    private static final int MOST_SAMPLES = 1 << 20;
    private static final String USAGE = """
            usage: NativeHits [--rounds N] [--millis N] [--warm N]
              --rounds N  rounds that count (7); every figure is the median of its rounds
              --millis N  of each turn in a round (500)
              --warm N    rounds before those that count (5)
            Prints a table, then the same as one line of JSON. HTTP requests are signed once and
            sent again, so that only the gateway verifies; the client throws answers away.""";

    private final ChannelClient channel;
    private final byte[] get;
    private final List<HttpConnection> connections = new ArrayList<>();
    private final long[] samples = new long[MOST_SAMPLES];
    private final Figures native4k = new Figures("channel");
    private final Figures http4k = new Figures("http");
    private final List<Double> bytesPerHit = new ArrayList<>();

    private NativeHits(HitSite site, ChannelClient channel) throws IOException {
        this.channel = channel;
        this.get = SignedRequest.of(SdkHttpMethod.GET, site.uri(OneObjectStore.PATH)).bytes();
        for (int i = 0; i < CONNECTIONS; i++) {
            HttpConnection connection = new HttpConnection(site.uri("/"));
            connections.add(connection);
            connection.exchange(get);
            String answer = connection.exchange(get);
            if (!answer.contains("x-cache: hit\r\n")) {
                throw new IllegalStateException("not a hit: " + answer);
            }
        }
        ChannelClient.requireHit(channel.call());
    }

    /** Prints figures; see {@code --help}. */
    public static void main(String[] arguments)
            throws IOException, ConfigException, InterruptedException {
        List<String> given = Arrays.asList(arguments);
        if (given.contains("--help")) {
            print(USAGE);
            return;
        }
        int rounds = option(given, "--rounds", 7);
        int warm = option(given, "--warm", 5);
        long turnNanos = option(given, "--millis", 500) * 1_000_000L;
        try (HitSite site = HitSite.open(OBJECT_BYTES);
                ChannelClient channel = new ChannelClient(site, OBJECT_BYTES, BATCHES,
                        BATCH_REQUESTS)) {
            NativeHits hits = new NativeHits(site, channel);
            hits.run(warm, rounds, turnNanos);
            hits.report();
        }
        // Pools of clients may keep threads for a while.
        System.exit(0);
    }

    private static int option(List<String> given, String name, int otherwise) {
        int at = given.indexOf(name);
        return at < 0 ? otherwise : Integer.parseInt(given.get(at + 1));
    }

    private void run(int warm, int rounds, long turnNanos)
            throws IOException, InterruptedException {
        try (ExecutorService clients = Executors.newFixedThreadPool(CONNECTIONS)) {
            for (int round = -warm; round < rounds; round++) {
                if (round == 0) {
                    native4k.forget();
                    http4k.forget();
                    bytesPerHit.clear();
                }
                callChannel(turnNanos);
                callHttp(turnNanos);
                pipelineChannel(turnNanos);
                pipelineHttp(clients, turnNanos);
            }
        }
        for (HttpConnection connection : connections) {
            connection.close();
        }
    }

    private void callChannel(long turnNanos) throws IOException {
        long allocated = gatewayBytes();
        long end = System.nanoTime() + turnNanos;
        int count = 0;
        for (long at = System.nanoTime(); at - end < 0 && count < MOST_SAMPLES;) {
            ChannelClient.requireHit(channel.call());
            long now = System.nanoTime();
            samples[count++] = now - at;
            at = now;
        }
        bytesPerHit.add((double) (gatewayBytes() - allocated) / count);
        native4k.latencies(samples, count);
    }

    private void callHttp(long turnNanos) throws IOException {
        ByteBuffer request = ByteBuffer.allocateDirect(get.length).put(get);
        HttpConnection connection = connections.getFirst();
        long end = System.nanoTime() + turnNanos;
        int count = 0;
        for (long at = System.nanoTime(); at - end < 0 && count < MOST_SAMPLES;) {
            connection.repeat(request);
            long now = System.nanoTime();
            samples[count++] = now - at;
            at = now;
        }
        http4k.latencies(samples, count);
    }

    private void pipelineChannel(long turnNanos) {
        long begin = System.nanoTime();
        long hits = channel.pipeline(begin + turnNanos);
        native4k.rate(hits, System.nanoTime() - begin);
    }

    private void pipelineHttp(ExecutorService clients, long turnNanos)
            throws InterruptedException, IOException {
        long begin = System.nanoTime();
        List<Future<Long>> counts = new ArrayList<>();
        for (HttpConnection connection : connections) {
            counts.add(clients.submit(() -> repeat(connection, begin + turnNanos)));
        }
        long hits = 0;
        for (Future<Long> count : counts) {
            try {
                hits += count.get();
            } catch (ExecutionException e) {
                throw new IOException(e.getCause());
            }
        }
        http4k.rate(hits, System.nanoTime() - begin);
    }

    private long repeat(HttpConnection connection, long deadlineNanos) throws IOException {
        ByteBuffer request = ByteBuffer.allocateDirect(get.length).put(get);
        long hits = 0;
        while (System.nanoTime() - deadlineNanos < 0) {
            connection.repeat(request);
            hits++;
        }
        return hits;
    }

    /** Returns the bytes allocated so far by the thread that serves the channel. */
    private static long gatewayBytes() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return Thread.getAllStackTraces()
                .keySet()
                .stream()
                .filter(thread -> thread.getName().startsWith("fabric-loopback"))
                .mapToLong(thread -> threads.getThreadAllocatedBytes(thread.threadId()))
                .sum();
    }

    private void report() {
        double bytes = bytesPerHit.stream().sorted().toList().get(bytesPerHit.size() / 2);
        double ratio = native4k.perSecond() / http4k.perSecond();
        print("hits of 4 KiB, immutable; latency at depth 1; rate with "
                + BATCHES * BATCH_REQUESTS + " requests under way over the channel, "
                + CONNECTIONS + " connections over HTTP");
        print(String.format(Locale.ROOT, "%-10s %10s %10s %14s", "", "p50 us", "p99 us",
                "hits/s"));
        print(native4k.line());
        print(http4k.line());
        print(String.format(Locale.ROOT,
                "%.1f times as many hits per second; %.0f bytes allocated by the gateway per hit",
                ratio, bytes));
        print(String.format(Locale.ROOT,
                "{%s, %s, \"ratio\": %.2f, \"gateway_bytes_per_hit\": %.0f}", native4k.json(),
                http4k.json(), ratio, bytes));
    }

    private static void print(String line) {
        System.out.println(line);
    }
}
