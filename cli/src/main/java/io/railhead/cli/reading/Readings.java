package io.railhead.cli.reading;

import static java.util.Objects.requireNonNull;

import io.railhead.cli.OneLine;
import io.railhead.cli.local.Children;
import io.railhead.client.RailheadClient;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.Via;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * The same objects read in several ways by one client process on one thread. A row other than cold
 * is measured after an unmeasured warm-up over the same path, for at least the minima over all
 * data. One thread.
 */
public final class Readings {
    private final Origin origin;
    private final Via via;
    private final Minima minima;
    private final Children children;
    private final Consumer<String> say;
    private final ReadingClient client;
    private final List<Row> rows = new ArrayList<>();

    private Readings(Origin origin, Via via, Minima minima, Children children,
            Consumer<String> say) throws IOException {
        this.origin = origin;
        this.via = via;
        this.minima = minima;
        this.children = children;
        this.say = say;
        client = ReadingClient.start("client", origin, children);
    }

    /**
     * Starts the client process.
     *
     * @param via LOOPBACK or VERBS: how hits are delivered one-sided
     * @param say hears what is done next
     */
    public static Readings start(Origin origin, Via via, Minima minima, Children children,
            Consumer<String> say) throws IOException {
        return new Readings(origin, via, minima, children, say);
    }

    public List<Row> rows() {
        return List.copyOf(rows);
    }

    /** An empty gateway before the store; its caller closes it. */
    public OwnGateway gateway(String freshness) throws IOException {
        say.accept("Starting a gateway, freshness " + freshness + " ...");
        return OwnGateway.start(freshness, via, origin, children);
    }

    /** From the store, with no gateway between. */
    public void direct() throws IOException {
        say(Row.Path.DIRECT);
        client.read(reading(origin.endpoint(), 0, "http", 1));
        Measured measured = client.read(reading(origin.endpoint(), 0, "http", minima.rounds()));
        rows.add(Row.of(Row.Path.DIRECT, "none", measured,
                new Spent(measured.requests(), measured.bytes())));
    }

    /** Once, through a gateway that has served nothing: its JVM is compiling what it runs. */
    public void justStarted(OwnGateway gateway) throws IOException {
        once(Row.Path.JUST_STARTED, gateway);
        gateway.forget();
    }

    /**
     * Once, out of an empty cache. Before it the gateway has filled objects and forgotten them, so
     * that the row shows an empty cache and not a JVM that has just started.
     *
     * @param warmUp what it has filled: other objects, or the same where there are no others
     */
    public void cold(OwnGateway gateway, Manifest warmUp) throws IOException {
        say.accept("Warming up the gateway with other reads ...");
        gateway.warmUpFills(warmUp, minima.seconds());
        once(Row.Path.COLD, gateway);
    }

    private void once(Row.Path path, Gateway gateway) throws IOException {
        measure(path, gateway,
                new Reading(gateway.endpoint().toString(), "http", gateway.pid(), 1, 0));
    }

    /** Over HTTP, and one-sided as {@code via} says. */
    public void hits(Gateway gateway) throws IOException {
        hit(Row.Path.HTTP_HIT, gateway);
        if (via != Via.VERBS) {
            hit(Row.Path.RDMA_HIT, gateway);
        }
        hit(hitPath(), gateway);
    }

    public void hit(Row.Path path, Gateway gateway) throws IOException {
        client.read(reading(gateway.endpoint(), gateway.pid(), path.via, 2));
        measure(path, gateway,
                reading(gateway.endpoint(), gateway.pid(), path.via, minima.rounds()));
    }

    /**
     * Several client processes read all objects at the same time, as the fabric has it.
     *
     * @return what each has measured
     */
    public List<Double> together(Gateway gateway, int processes) throws IOException {
        Reading reading = reading(gateway.endpoint(), 0, hitPath().via, minima.rounds());
        List<ReadingClient> clients = new ArrayList<>();
        for (int i = 1; i <= processes; i++) {
            clients.add(ReadingClient.start("client-" + i, origin, children));
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Measured>> all = clients.stream()
                    .map(each -> threads.submit(() -> each.read(reading)))
                    .toList();
            List<Double> mibPerS = new ArrayList<>();
            for (Future<Measured> each : all) {
                Measured measured = each.get();
                mibPerS.add(measured.bytes() / measured.seconds() / (1 << 20));
            }
            return mibPerS;
        } catch (ExecutionException e) {
            throw new IOException(OneLine.of(requireNonNull(e.getCause())), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /**
     * Writes files through the gateway, out of this process's memory as the fabric has it, and
     * reads the objects from the store.
     *
     * @return bytes that were written, each compared
     */
    public long written(Gateway gateway, List<SourceFile> files) throws IOException {
        Manifest written = origin.add(gateway.endpoint(), via, files);
        try (RailheadClient client = RailheadClient.connect(origin.config(origin.endpoint()));
                RegisteredBuffer memory = client.register(written.totalBytes())) {
            return new Rounds(written, Source.of(client, written.bucket(), memory),
                    memory.memory(), null).run(1, 0).bytes();
        }
    }

    private Row.Path hitPath() {
        return via == Via.VERBS ? Row.Path.NATIVE_HIT_VERBS : Row.Path.NATIVE_HIT;
    }

    private Reading reading(URI endpoint, long pid, String way, int passes) {
        return new Reading(endpoint.toString(), way, pid, passes, minima.seconds());
    }

    private void measure(Row.Path path, Gateway gateway, Reading reading) throws IOException {
        say(path);
        Spent before = gateway.spent();
        Measured measured = client.read(reading);
        Spent after = gateway.spent();
        rows.add(Row.of(path, gateway.freshness(), measured,
                before == null || after == null ? null : after.since(before)));
    }

    private void say(Row.Path path) {
        say.accept("Reading: " + path.label + " ...");
    }
}
