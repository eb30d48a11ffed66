package io.railhead.rdma;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A fabric over devices that come and go. A virtual thread looks up the fabric's place, such as its
 * addresses, at intervals. After a change it opens a new fabric in place of the old one and
 * registers every slab there. A usable fabric with sessions stays until it has none, or cannot be
 * used. A failed open is retried, less and less often. A fabric whose device was removed is closed
 * within seconds, and opened again at a later lookup.
 *
 * @param <P> the place; an equal place is no change
 */
public final class ReopeningFabric<P> implements Fabric {
    private static final Logger log = LoggerFactory.getLogger(ReopeningFabric.class);

    /** The logarithm of the most lookups between two retries. */
    private static final int RAREST = 6;

    private static final Duration LOSS_INTERVAL = Duration.ofSeconds(1);

    private final String name;
    private final Supplier<P> lookup;
    private final Opener<P> opener;
    private final Duration interval;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread watch;
    /** All slabs in order of arrival. Guarded by this object's monitor. */
    private final List<Slab> slabs = new ArrayList<>();
    private volatile FabricStats ofEarlier = FabricStats.NONE;
    private volatile P place;
    private volatile Fabric current;
    /** Consecutive failures; used by the constructor, and then by the watch only. */
    private int failures;
    private int looksUntilTry;

    /** Opens a fabric. Blocks. */
    public interface Opener<P> {

        /**
         * Returns an open fabric, or an {@link UnavailableFabric} if there is none at this place;
         * throws if one cannot be opened now.
         */
        Fabric open(P place) throws IOException;

        /** Returns whether the last fabric is unaffected by the change, if that is known. */
        default boolean isStillAt(P place) {
            return false;
        }
    }

    /**
     * Opens the fabric.
     *
     * @param name the name of each fabric that is opened
     */
    public ReopeningFabric(String name, Supplier<P> lookup, Opener<P> opener, Duration interval) {
        this.name = name;
        this.lookup = lookup;
        this.opener = opener;
        this.interval = interval;
        place = lookup.get();
        current = open(place);
        watch = Thread.ofVirtual().name("fabric-watch-" + name).start(this::watch);
    }

    private void watch() {
        long step = Math.min(interval.toNanos(), LOSS_INTERVAL.toNanos());
        long sinceLook = 0;
        try {
            while (!closing.await(step, TimeUnit.NANOSECONDS)) {
                sinceLook += step;
                if (current.hasLostDevice()) {
                    letGo();
                } else if (sinceLook >= interval.toNanos()) {
                    sinceLook = 0;
                    look();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() {
        try {
            P now = lookup.get();
            boolean isInUse = current.health().usable()
                    && (current.stats().sessions() > 0 || opener.isStillAt(now));
            boolean isDue = failures > 0 && --looksUntilTry == 0;
            if (isDue || (!now.equals(place) && !isInUse)) {
                reopen(now);
            }
        } catch (RuntimeException | Error e) {
            log.warn("{}: where it should be is not known: {}", name, e.toString());
        }
    }

    /**
     * Closes a fabric without its device. The device exists in part until the fabric releases it,
     * so the next lookup opens the new one.
     */
    private synchronized void letGo() {
        Fabric old = current;
        String reason = old.health().reason();
        log.warn("{}: {}: it is closed, and opened again without", name, reason);
        current = new UnavailableFabric(name, reason.isEmpty() ? "a device has gone" : reason);
        close(old);
        ofEarlier = ofEarlier.plus(old.stats().afterItsEnd());
        failures = 1;
        looksUntilTry = 1;
    }

    /**
     * Opens the fabric anew. The old one is closed first, since two cannot have the same addresses.
     */
    private synchronized void reopen(P now) {
        log.info("{}: {} in place of {}", name, now, place);
        Fabric old = current;
        current = new UnavailableFabric(name, "is being opened again");
        close(old);
        ofEarlier = ofEarlier.plus(old.stats().afterItsEnd());
        Fabric next = open(now);
        place = now;
        current = next;
    }

    private Fabric open(P where) {
        @Nullable
        Fabric opened = null;
        try {
            opened = opener.open(where);
            slabs.forEach(opened::register);
            failures = 0;
            return opened;
        } catch (IOException | RuntimeException | LinkageError e) {
            if (opened != null) {
                close(opened);
            }
            looksUntilTry = 1 << Math.min(failures, RAREST);
            failures++;
            log.warn("{} cannot be opened: {}", name, e.toString());
            return new UnavailableFabric(name, String.valueOf(e.getMessage()));
        }
    }

    private void close(Fabric over) {
        try {
            over.close();
        } catch (RuntimeException | Error e) {
            log.warn("{} did not end in order", name, e);
        }
    }

    /** Returns the current place. */
    public P place() {
        return place;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Health health() {
        return current.health();
    }

    @Override
    public Health health(ClientSession clientSession) {
        return current.health(clientSession);
    }

    @Override
    public FabricStats stats() {
        return ofEarlier.plus(current.stats());
    }

    /** Registers a slab; waits while another fabric is being opened. */
    @Override
    public synchronized void register(Slab slab) {
        slabs.add(slab);
        current.register(slab);
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        return current.begin(buffer);
    }

    @Override
    public Optional<Pairing> pairing() {
        return current.pairing();
    }

    /** Closes the fabric and opens none afterwards. Blocks. */
    @Override
    public void close() {
        closing.countDown();
        boolean interrupted = false;
        while (watch.isAlive()) {
            try {
                watch.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        current.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
