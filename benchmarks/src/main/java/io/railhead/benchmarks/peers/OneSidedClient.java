package io.railhead.benchmarks.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * A process that reads an {@link Order} per line. It responds with a line when the measured time
 * begins, so that the harness can watch the other processes. A line of JSON with the figures
 * follows.
 */
public final class OneSidedClient {
    static final ObjectMapper JSON = new ObjectMapper();

    /**
     * The requests that must end at least, unless the time reaches {@code LONGEST} times its plan.
     */
    private static final int LEAST_REQUESTS = 16;
    private static final int LONGEST = 4;
    private static final long LOOK_NANOS = 20_000_000;

    private final Order order;
    private final Meter meter = new Meter();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final List<FutureTask<Boolean>> tasks = new ArrayList<>();

    private OneSidedClient(Order order) {
        this.order = order;
    }

    /** Runs until its input ends. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            say(new OneSidedClient(JSON.readValue(line, Order.class)).measure());
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private String measure() {
        try (ClientWindows windows = ClientWindows.open(order)) {
            if (order.way() == Order.Way.COPY) {
                return run(List.of(new CopyLoad(windows)));
            }
            if (order.way() == Order.Way.WRITE) {
                windows.fill();
            }
            try (GatewaySession session = GatewaySession.open(order, windows)) {
                return run(loads(session, windows));
            }
        } catch (IOException | RuntimeException | Error e) {
            return "{\"problem\": \"" + e.toString().replaceAll("[\"\\\\\\s]+", " ") + "\"}";
        }
    }

    private List<? extends Load> loads(GatewaySession session, ClientWindows windows) {
        if (order.way() == Order.Way.NATIVE) {
            return List.of(new NativeLoad(session, windows, order.connections()));
        }
        if (order.way() == Order.Way.WRITE) {
            AtomicInteger next = new AtomicInteger();
            return IntStream.range(0, order.connections())
                    .mapToObj(i -> new TokenWrites(order, session, windows, i, next))
                    .toList();
        }
        int threads = Math.min(order.connections(), Runtime.getRuntime().availableProcessors());
        return IntStream.range(0, threads)
                .mapToObj(i -> new TokenLoad(order, session, windows, i, threads))
                .toList();
    }

    private String run(List<? extends Load> loads) throws IOException {
        try {
            return order.way() == Order.Way.WRITE ? once(loads) : often(loads);
        } finally {
            stopped.set(true);
            join();
        }
    }

    private String once(List<? extends Load> loads) throws IOException {
        say("measuring");
        Snapshot before = Snapshot.take(meter);
        start(loads);
        join();
        return figures(before, meter.latencies().getIntervalHistogram());
    }

    private String often(List<? extends Load> loads) throws IOException {
        start(loads);
        pass(order.leadSeconds());
        say("measuring");
        meter.latencies().reset();
        Snapshot before = Snapshot.take(meter);
        pass(order.seconds());
        Histogram latencies = meter.latencies().getIntervalHistogram();
        while (latencies.getTotalCount() < LEAST_REQUESTS
                && System.nanoTime() - before.nanos() < LONGEST * order.seconds() * 1e9) {
            pass(order.seconds() / LONGEST);
            latencies.add(meter.latencies().getIntervalHistogram());
        }
        return figures(before, latencies);
    }

    private void start(List<? extends Load> loads) {
        for (Load load : loads) {
            FutureTask<Boolean> task = new FutureTask<>(() -> {
                load.run(stopped::get, meter);
                return true;
            });
            tasks.add(task);
            Thread.ofPlatform().name("client-" + tasks.size()).start(task);
        }
    }

    private void pass(double seconds) throws IOException {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(Math.min(left, LOOK_NANOS));
            if (tasks.stream().anyMatch(FutureTask::isDone)) {
                join();
            }
        }
    }

    private void join() throws IOException {
        try {
            for (FutureTask<Boolean> task : tasks) {
                task.get();
            }
        } catch (ExecutionException e) {
            stopped.set(true);
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private String figures(Snapshot before, Histogram latencies) {
        Snapshot after = Snapshot.take(meter);
        return String.format(Locale.ROOT,
                "{\"seconds\": %f, \"bytes\": %d, \"requests\": %d, \"p50_us\": %.1f,"
                        + " \"p99_us\": %.1f, \"client_cpu\": %f}",
                (after.nanos() - before.nanos()) / 1e9, after.bytes() - before.bytes(),
                latencies.getTotalCount(), latencies.getValueAtPercentile(50) / 1e3,
                latencies.getValueAtPercentile(99) / 1e3,
                (after.cpuNanos() - before.cpuNanos()) / 1e9);
    }

    private record Snapshot(long nanos, long bytes, long cpuNanos) {
        static Snapshot take(Meter meter) {
            var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory
                    .getOperatingSystemMXBean();
            return new Snapshot(System.nanoTime(), meter.bytes(), system.getProcessCpuTime());
        }
    }
}
