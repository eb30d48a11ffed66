package io.railhead.backend.aws;

import io.railhead.backend.FetchTurn;
import io.railhead.backend.FetchTurn.Urgency;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a store that wait for their turn. Tenants take turns; each tenant's requests keep
 * their order. A prefetch has one turn in four while others wait, since a request may have joined
 * it. Guarded by its owner's lock.
 */
final class Waiting<T> {
    private static final int TURNS_TO_ONE_AHEAD = 4;

    private final Line<T> wanted = new Line<>();
    private final Line<T> ahead = new Line<>();
    private int turns;

    void add(FetchTurn turn, T request) {
        (turn.urgency() == Urgency.AHEAD ? ahead : wanted).add(turn.tenant(), request);
    }

    @Nullable
    T poll() {
        boolean aheadFirst = ++turns % TURNS_TO_ONE_AHEAD == 0;
        T first = (aheadFirst ? ahead : wanted).poll();
        return first != null ? first : (aheadFirst ? wanted : ahead).poll();
    }

    int size() {
        return wanted.size + ahead.size;
    }

    /** The waiting tenants, in the order of their turns. */
    private static final class Line<T> {
        private final Map<String, ArrayDeque<T>> tenants = new LinkedHashMap<>();
        private int size;

        void add(String tenant, T request) {
            tenants.computeIfAbsent(tenant, _ -> new ArrayDeque<>()).add(request);
            size++;
        }

        @Nullable
        T poll() {
            Iterator<Map.Entry<String, ArrayDeque<T>>> next = tenants.entrySet().iterator();
            if (!next.hasNext()) {
                return null;
            }
            Map.Entry<String, ArrayDeque<T>> first = next.next();
            ArrayDeque<T> requests = first.getValue();
            T request = requests.poll();
            next.remove();
            if (!requests.isEmpty()) {
                tenants.put(first.getKey(), requests);
            }
            size--;
            return request;
        }
    }
}
