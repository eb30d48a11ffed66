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
 * A fabric over devices that come and go: where it should be, such as its addresses, is looked up
 * again and again on a virtual thread, and where that has changed another one is opened in its
 * place, on which every slab is registered first. One that is used by sessions, and can be, is left
 * until it no longer is. What could not be opened is tried again, less and less often. One whose
 * device has gone is closed within seconds, and opened again at a later look.
 *
 * @param <P> the place; one that equals another changes nothing
 */
public final class ReopeningFabric<P> implements Fabric {
    private static final Logger log = LoggerFactory.getLogger(ReopeningFabric.class);

    /** The logarithm of the most looks between two tries. */
    private static final int RAREST = 6;

    private static final Duration LOSS_INTERVAL = Duration.ofSeconds(1);

    private final String name;
    private final Supplier<P> lookup;
    private final Opener<P> opener;
    private final Duration interval;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread watch;
    /** In the order in which they came. Guarded by this. */
    private final List<Slab> slabs = new ArrayList<>();
    private volatile FabricStats ofEarlier = FabricStats.NONE;
    private volatile P place;
    private volatile Fabric current;
    /** One after another. By the constructor, and then the watch. */
    private int failures;
    private int looksUntilTry;

    /** Opens one. Blocks. */
    public interface Opener<P> {

        /**
         * An {@link UnavailableFabric} where there is none; throws where there is one that cannot
         * be opened now.
         */
        Fabric open(P place) throws IOException;

        /** Whether what was opened last needs nothing that has changed, if that is known. */
        default boolean isStillAt(P place) {
            return false;
        }
    }

    /**
     * Opens it.
     *
     * @param name of each that is opened
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

    /** Until the device is held no more it is still there in part: the next look opens. */
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

    /** Two of them could not have the same addresses, so the old one goes first. */
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

    /** Where it is now. */
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

    /** Waits while another one is being opened. */
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

    /** Blocks; nothing is opened any more afterwards. */
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
