package io.railhead.gateway.audit;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Limits the events of each kind: for one sender, and for all senders together, in a minute. An
 * event that counts the suppressed ones follows at the minute's end. Any thread, no lock.
 */
final class FloodLimit {
    static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** The most senders that are told apart; further ones share one window for each kind. */
    private static final int MOST_SOURCES = 4096;
    private static final String OTHERS = "";

    private final LongSupplier nanoClock;
    private final Map<Key, Window> windows = new ConcurrentHashMap<>();

    private record Key(AuditKind kind, String source, boolean isOfAll) {}

    private record Window(long openedNanos, AtomicInteger seen, AtomicInteger suppressed) {}

    /** Receives the number of suppressed events of a kind and sender. */
    @FunctionalInterface
    interface Summary {

        /** @param source "" for all senders that had no window of their own */
        void suppressed(AuditKind kind, String source, int events);
    }

    FloodLimit(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Returns whether the event may be written; counts it otherwise. */
    boolean admits(AuditEvent event) {
        AuditKind kind = event.kind();
        if (!kind.isLimited()) {
            return true;
        }
        Key own = new Key(kind, event.source(), false);
        boolean hasRoom = windows.containsKey(own) || windows.size() < MOST_SOURCES;
        Window ofSource = window(hasRoom ? own : new Key(kind, OTHERS, false));
        boolean fits = ofSource.seen.incrementAndGet() <= kind.mostOfSource()
                && window(new Key(kind, OTHERS, true)).seen.incrementAndGet() <= kind
                        .mostOfAll();
        if (!fits) {
            ofSource.suppressed.incrementAndGet();
        }
        return fits;
    }

    private Window window(Key key) {
        Window known = windows.get(key);
        return known != null
                ? known
                : windows.computeIfAbsent(key, _ -> new Window(nanoClock.getAsLong(),
                        new AtomicInteger(), new AtomicInteger()));
    }

    /** Ends the windows that are over, or all of them. */
    void sweep(boolean all, Summary summary) {
        long now = nanoClock.getAsLong();
        windows.forEach((key, window) -> {
            if ((all || now - window.openedNanos >= WINDOW_NANOS) && windows.remove(key, window)
                    && window.suppressed.get() > 0) {
                summary.suppressed(key.kind, key.source, window.suppressed.get());
            }
        });
    }
}
