package io.railhead.cli.reading;

import io.railhead.cli.local.Children;
import io.railhead.client.Via;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
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
        client = ReadingClient.start(origin, children);
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

    /**
     * Once, out of an empty cache. Before it the gateway has filled the same objects and forgotten
     * them, so that the row shows an empty cache and not a virtual machine that has just started.
     */
    public void cold(OwnGateway gateway) throws IOException {
        gateway.warmUpFills(minima.seconds());
        measure(Row.Path.COLD, gateway,
                new Reading(gateway.endpoint().toString(), "http", gateway.pid(), 1, 0));
    }

    /** Over HTTP, and one-sided as {@code via} says. */
    public void hits(Gateway gateway) throws IOException {
        hit(Row.Path.HTTP_HIT, gateway);
        if (via == Via.VERBS) {
            hit(Row.Path.NATIVE_HIT_VERBS, gateway);
        } else {
            hit(Row.Path.RDMA_HIT, gateway);
            hit(Row.Path.NATIVE_HIT, gateway);
        }
    }

    public void hit(Row.Path path, Gateway gateway) throws IOException {
        client.read(reading(gateway.endpoint(), gateway.pid(), path.via, 2));
        measure(path, gateway,
                reading(gateway.endpoint(), gateway.pid(), path.via, minima.rounds()));
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
