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
 * The same objects read over several paths by one client process on one thread. Every row but the
 * cold one is measured after an unmeasured warm-up over the same path, for at least the minima over
 * all data. One thread.
 */
public final class Readings {
    private static final int MOST_FILLING_PASSES = 12;
    /** Less than a page. */
    private static final long SOME_BYTES = 64 << 10;

    private final Origin origin;
    private final Via via;
    private final MinimumDurations minimumDurations;
    private final Children children;
    private final Consumer<String> say;
    private final ReadingClient client;
    private final List<ReadingRow> rows = new ArrayList<>();

    private Readings(Origin origin, Via via, MinimumDurations minimumDurations, Children children,
            Consumer<String> say) throws IOException {
        this.origin = origin;
        this.via = via;
        this.minimumDurations = minimumDurations;
        this.children = children;
        this.say = say;
        client = ReadingClient.start("client", origin, children);
    }

    /**
     * Starts the client process.
     *
     * @param via LOOPBACK or VERBS, for one-sided hits
     * @param say receives the next step's description
     */
    public static Readings start(Origin origin, Via via, MinimumDurations minimumDurations,
            Children children,
            Consumer<String> say) throws IOException {
        return new Readings(origin, via, minimumDurations, children, say);
    }

    public List<ReadingRow> rows() {
        return List.copyOf(rows);
    }

    /** Returns a gateway with an empty cache before the store; its caller closes it. */
    public OwnGateway gateway(String freshness) throws IOException {
        say.accept("Starting a gateway, freshness " + freshness + " ...");
        return OwnGateway.start(freshness, via, origin, children);
    }

    /** Measures reads from the store, without a gateway. */
    public void direct() throws IOException {
        say(ReadingRow.Path.DIRECT);
        client.read(reading(origin.endpoint(), 0, "http", 1));
        ReadingResult readingResult = client
                .read(reading(origin.endpoint(), 0, "http", minimumDurations.rounds()));
        rows.add(ReadingRow.of(ReadingRow.Path.DIRECT, "none", readingResult,
                new StoreUsage(readingResult.requests(), readingResult.bytes())));
    }

    /** Measures one pass through a gateway that has served nothing: its JVM is still compiling. */
    public void justStarted(OwnGateway gateway) throws IOException {
        once(ReadingRow.Path.JUST_STARTED, gateway);
        gateway.forget();
    }

    /**
     * Measures one pass from an empty cache. The gateway has filled and evicted objects before, so
     * that the row shows an empty cache and not a JVM that has just started.
     *
     * @param warmUp the objects of the warm-up: others, or the same if there are no others
     */
    public void cold(OwnGateway gateway, Manifest warmUp) throws IOException {
        say.accept("Warming up the gateway with other reads ...");
        gateway.warmUpFills(warmUp, minimumDurations.seconds());
        once(ReadingRow.Path.COLD, gateway);
    }

    /** Returns a gateway with a fifth of the memory, over a disk; its caller closes it. */
    public OwnGateway gatewayOverDisk() throws IOException {
        say.accept("Starting a gateway with memory for a fifth of the data, over a disk ...");
        return OwnGateway.startOverDisk(via, origin, children);
    }

    /**
     * Measures reads of what memory has no room for. Before that all objects are read until the
     * store is asked for none of their bytes.
     */
    public void diskHits(OwnGateway gateway) throws IOException {
        say.accept("Filling the disk ...");
        Reading pass = new Reading(gateway.endpoint().toString(), "http", gateway.pid(), 1, 0);
        for (int passes = 0; passes < MOST_FILLING_PASSES; passes++) {
            long before = gateway.spent().storeBytes();
            client.read(pass);
            if (gateway.spent().storeBytes() - before < SOME_BYTES) {
                break;
            }
        }
        measure(ReadingRow.Path.DISK_HIT, gateway, reading(gateway.endpoint(), gateway.pid(),
                "http", minimumDurations.rounds()));
    }

    private void once(ReadingRow.Path path, ReadGateway readGateway) throws IOException {
        measure(path, readGateway,
                new Reading(readGateway.endpoint().toString(), "http", readGateway.pid(), 1, 0));
    }

    /** Measures hits over HTTP, and one-sided over {@code via}. */
    public void hits(ReadGateway readGateway) throws IOException {
        hit(ReadingRow.Path.HTTP_HIT, readGateway);
        if (via != Via.VERBS) {
            hit(ReadingRow.Path.RDMA_HIT, readGateway);
        }
        hit(hitPath(), readGateway);
    }

    public void hit(ReadingRow.Path path, ReadGateway readGateway) throws IOException {
        client.read(reading(readGateway.endpoint(), readGateway.pid(), path.via, 2));
        measure(path, readGateway,
                reading(readGateway.endpoint(), readGateway.pid(), path.via,
                        minimumDurations.rounds()));
    }

    /**
     * Measures several client processes that read all objects at the same time over the fabric.
     *
     * @return each process's result
     */
    public List<Double> together(ReadGateway readGateway, int processes) throws IOException {
        Reading reading = reading(readGateway.endpoint(), 0, hitPath().via,
                minimumDurations.rounds());
        List<ReadingClient> clients = new ArrayList<>();
        for (int i = 1; i <= processes; i++) {
            clients.add(ReadingClient.start("client-" + i, origin, children));
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<ReadingResult>> all = clients.stream()
                    .map(each -> threads.submit(() -> each.read(reading)))
                    .toList();
            List<Double> mibPerS = new ArrayList<>();
            for (Future<ReadingResult> each : all) {
                ReadingResult readingResult = each.get();
                mibPerS.add(readingResult.bytes() / readingResult.seconds() / (1 << 20));
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
     * Writes files through the gateway from this process's memory over the fabric, and reads the
     * objects from the store.
     *
     * @return the written bytes, each of which was compared
     */
    public long written(ReadGateway readGateway, List<SourceFile> files) throws IOException {
        Manifest written = origin.add(readGateway.endpoint(), via, files);
        try (RailheadClient client = RailheadClient.connect(origin.config(origin.endpoint()));
                RegisteredBuffer memory = client.register(written.totalBytes())) {
            return new Rounds(written, Source.of(client, written.bucket(), memory),
                    memory.memory(), null).run(1, 0).bytes();
        }
    }

    private ReadingRow.Path hitPath() {
        return via == Via.VERBS ? ReadingRow.Path.NATIVE_HIT_VERBS : ReadingRow.Path.NATIVE_HIT;
    }

    private Reading reading(URI endpoint, long pid, String way, int passes) {
        return new Reading(endpoint.toString(), way, pid, passes, minimumDurations.seconds());
    }

    private void measure(ReadingRow.Path path, ReadGateway readGateway, Reading reading)
            throws IOException {
        say(path);
        StoreUsage before = readGateway.spent();
        ReadingResult readingResult = client.read(reading);
        StoreUsage after = readGateway.spent();
        rows.add(ReadingRow.of(path, readGateway.freshness(), readingResult,
                before == null || after == null ? null : after.since(before)));
    }

    private void say(ReadingRow.Path path) {
        say.accept("Reading: " + path.label + " ...");
    }
}
