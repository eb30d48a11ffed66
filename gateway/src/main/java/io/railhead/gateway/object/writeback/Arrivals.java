package io.railhead.gateway.object.writeback;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The uploads on their way into the log, by the names of their stores. Any thread. */
final class Arrivals {
    private final ConcurrentMap<String, Integer> counts = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /** Counts an upload; refused while closed. Otherwise {@link #end} must follow. */
    boolean tryBegin(String store) {
        // Counted before the look: whoever closes does the same in the other order.
        counts.merge(store, 1, Integer::sum);
        if (closed) {
            end(store);
            return false;
        }
        return true;
    }

    void end(String store) {
        counts.computeIfPresent(store, (_, count) -> count == 1 ? null : count - 1);
    }

    void close(boolean isClosed) {
        closed = isClosed;
    }

    /** Returns the stores of all uploads; once closed, there only get fewer. */
    Set<String> stores() {
        return Set.copyOf(counts.keySet());
    }
}
