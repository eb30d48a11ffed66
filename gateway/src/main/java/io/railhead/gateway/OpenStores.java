package io.railhead.gateway;

import io.prometheus.client.Histogram;
import io.railhead.backend.Backend;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.aws.AwsBackend;
import io.railhead.backend.aws.PrivateAuthority;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.request.PlacedStore;
import io.railhead.gateway.status.TimedBackend;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The open stores: the configured ones, and removed ones until their last request has ended. For
 * the thread that starts, reloads and stops, one at a time.
 */
final class OpenStores implements AutoCloseable {
    /** The beginning of the eras of stores that were not there at the start. */
    static final String LATER_ERA = "#";

    private final Histogram seconds;
    private final RetiredStores retired = new RetiredStores();
    private Map<String, Opened> current = Map.of();
    private int eras;

    /**
     * @param authority the content of its {@code ca} file, empty without one
     * @param placed the object that requests hold, which refers to {@code store}
     */
    private record Opened(BackendConfig config, ByteBuffer authority, AwsBackend store,
            PlacedStore placed) {

        boolean is(BackendConfig wanted, ByteBuffer wantedAuthority) {
            return config.equals(wanted) && authority.equals(wantedAuthority);
        }
    }

    /** A new table of stores, which is put into force or closed. */
    final class Change implements AutoCloseable {
        private final Map<String, Opened> next;
        private final List<Opened> fresh;

        private Change(Map<String, Opened> next, List<Opened> fresh) {
            this.next = next;
            this.fresh = fresh;
        }

        Map<String, PlacedStore> placed() {
            Map<String, PlacedStore> placed = new LinkedHashMap<>();
            next.forEach((name, opened) -> placed.put(name, opened.placed()));
            return placed;
        }

        /** Returns the stores that were opened for this change, and are not probed yet. */
        List<Backend> fresh() {
            return fresh.stream().map(opened -> opened.placed().backend()).toList();
        }

        Iterable<Executor> eventLoops() {
            List<Executor> loops = new ArrayList<>();
            fresh.forEach(opened -> opened.store().eventLoops().forEach(loops::add));
            return loops;
        }

        /** Puts the table into force; removed stores are closed when no request uses them. */
        void done() {
            Map<String, Opened> before = current;
            current = next;
            fresh.clear();
            before.values()
                    .stream()
                    .filter(opened -> !next.containsValue(opened))
                    .forEach(opened -> retired.add(opened.placed().backend(), opened.store()));
        }

        /** Closes the new stores if the change was not put in force. */
        @Override
        public void close() {
            fresh.forEach(opened -> opened.store().close());
        }
    }

    OpenStores(Histogram seconds) {
        this.seconds = seconds;
    }

    /** Throws one line that names an unusable file of certificate authorities. */
    static void requireAuthorities(Map<String, GatewayConfig.Store> wanted) {
        wanted.forEach((name, store) -> {
            Path ca = store.backend().ca();
            try {
                if (ca != null) {
                    PrivateAuthority.read(ca);
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "backends." + name + "." + e.getMessage(), e);
            }
        });
    }

    /** Opens new and changed stores, and keeps the others; if one cannot be opened, none is. */
    Change open(Map<String, GatewayConfig.Store> wanted) {
        requireAuthorities(wanted);
        Map<String, Opened> next = new LinkedHashMap<>();
        List<Opened> fresh = new ArrayList<>();
        try {
            wanted.forEach((name, store) -> {
                Opened now = current.get(name);
                ByteBuffer authority = authority(store.backend());
                if (now == null || !now.is(store.backend(), authority)) {
                    now = open(store.backend(), authority, now);
                    fresh.add(now);
                }
                next.put(name, now);
            });
        } catch (RuntimeException | Error e) {
            fresh.forEach(opened -> opened.store().close());
            throw e;
        }
        return new Change(next, fresh);
    }

    private static ByteBuffer authority(BackendConfig config) {
        Path ca = config.ca();
        try {
            return ByteBuffer.wrap(ca == null ? new byte[0] : Files.readAllBytes(ca));
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "backends." + config.name() + ".ca cannot be read: " + ca, e);
        }
    }

    private Opened open(BackendConfig config, ByteBuffer authority, @Nullable Opened before) {
        AwsBackend store = new AwsBackend(config);
        Backend timed = new TimedBackend(store, seconds.labels(config.name()));
        return new Opened(config, authority, store, new PlacedStore(timed, era(config, before)));
    }

    /**
     * Returns the store's era. With an endpoint in common it is the same store, whose cached
     * objects stay valid.
     */
    private String era(BackendConfig config, @Nullable Opened before) {
        if (before != null && !Collections.disjoint(config.endpoints(),
                before.config().endpoints())) {
            return before.placed().era();
        }
        return current.isEmpty() ? "" : LATER_ERA + ++eras + "/";
    }

    @Override
    public void close() {
        retired.close();
        current.values().forEach(opened -> opened.store().close());
    }
}
