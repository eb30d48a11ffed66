package io.railhead.rdma.dc;

import static java.util.Objects.requireNonNull;

import io.railhead.os.verbs.AddressHandle;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cache of address handles to peers' ports. Creating a handle asks the kernel for the peer's
 * hardware address, which may take seconds, so it runs on another thread. An unused handle is
 * destroyed when there are too many, the least recently used first, or when it proved unreachable.
 * Poller only.
 */
final class AddressHandles {
    private static final Logger log = LoggerFactory.getLogger(AddressHandles.class);

    private final int most;
    private final Maker maker;
    private final Executor resolvers;
    private final Executor poller;
    /** In order of use, the least recent first. */
    private final Map<Place, Way> ways = new LinkedHashMap<>(16, 0.75f, true);
    private boolean isClosed;

    /** A port, as tokens name it. */
    record Place(InetAddress gid, int lid) {}

    /** Creates a handle. Blocks. */
    interface Maker {
        AddressHandle make(Place place) throws IOException;
    }

    /** The receiver of a handle. Poller only. */
    interface Asker {

        /** Takes the handle, which is in use until {@link AddressHandles#release}. */
        void found(Way way);

        void notFound(String reason);
    }

    /** A handle to one place, perhaps still being created. Poller only. */
    static final class Way {
        private final Place place;
        private final List<Asker> askers = new ArrayList<>();
        private @Nullable AddressHandle handle;
        private int users;
        private boolean isForgotten;

        private Way(Place place) {
            this.place = place;
        }

        AddressHandle handle() {
            return requireNonNull(handle);
        }

        private boolean isIdle() {
            return handle != null && users == 0;
        }
    }

    /**
     * @param most the most handles that are kept
     * @param resolvers create and destroy handles
     */
    AddressHandles(int most, Maker maker, Executor resolvers, Executor poller) {
        this.most = most;
        this.maker = maker;
        this.resolvers = resolvers;
        this.poller = poller;
    }

    void ask(Place place, Asker asker) {
        Way way = ways.get(place);
        if (way == null) {
            way = new Way(place);
            ways.put(place, way);
            trim();
            Way fresh = way;
            fresh.askers.add(asker);
            resolvers.execute(() -> make(fresh));
        } else if (way.handle == null) {
            way.askers.add(asker);
        } else {
            way.users++;
            asker.found(way);
        }
    }

    private void make(Way way) {
        try {
            AddressHandle handle = maker.make(way.place);
            poller.execute(() -> made(way, handle));
        } catch (IOException | RuntimeException | Error e) {
            poller.execute(() -> failed(way, String.valueOf(e.getMessage())));
        }
    }

    private void made(Way way, AddressHandle handle) {
        way.handle = handle;
        way.users += way.askers.size();
        List<Asker> waiting = List.copyOf(way.askers);
        way.askers.clear();
        waiting.forEach(asker -> asker.found(way));
        if (way.isForgotten) {
            closeIfIdle(way);
        }
    }

    private void failed(Way way, String reason) {
        ways.remove(way.place, way);
        List.copyOf(way.askers).forEach(asker -> asker.notFound(reason));
    }

    void release(Way way) {
        way.users--;
        if (way.isForgotten) {
            closeIfIdle(way);
        } else {
            trim();
        }
    }

    /** Drops a handle that proved unreachable: the next request creates another. */
    void forget(Way way) {
        if (ways.remove(way.place, way)) {
            way.isForgotten = true;
            closeIfIdle(way);
        }
    }

    private void trim() {
        Iterator<Way> oldest = ways.values().iterator();
        while (ways.size() > most && oldest.hasNext()) {
            Way way = oldest.next();
            if (way.isIdle()) {
                oldest.remove();
                way.isForgotten = true;
                closeIfIdle(way);
            }
        }
    }

    private void closeIfIdle(Way way) {
        AddressHandle handle = way.handle;
        if (handle != null && way.isIdle()) {
            way.handle = null;
            if (isClosed) {
                close(handle);
            } else {
                resolvers.execute(() -> close(handle));
            }
        }
    }

    private static void close(AddressHandle handle) {
        try {
            handle.close();
        } catch (IOException e) {
            log.warn("an address handle could not be given back", e);
        }
    }

    int size() {
        return ways.size();
    }

    /**
     * Closes the cache after the last user. A handle that is still being created is destroyed when
     * it is ready.
     */
    void close() {
        isClosed = true;
        List.copyOf(ways.values()).forEach(this::forget);
    }
}
