package io.railhead.backend.aws;

import io.railhead.backend.FetchTurn;
import io.railhead.backend.FetchTurn.Urgency;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fetches that wait for their turn. Tenants take turns; each tenant's fetches keep their order. A
 * prefetch has one turn in four while others wait, since a request may have joined it. Guarded by
 * its owner's lock.
 */
final class WaitingFetches {
    private static final int TURNS_TO_ONE_AHEAD = 4;

    private final Line wanted = new Line();
    private final Line ahead = new Line();
    private int turns;

    void add(FetchTurn turn, Runnable fetch) {
        (turn.urgency() == Urgency.AHEAD ? ahead : wanted).add(turn.tenant(), fetch);
    }

    @Nullable
    Runnable poll() {
        boolean aheadFirst = ++turns % TURNS_TO_ONE_AHEAD == 0;
        Runnable first = (aheadFirst ? ahead : wanted).poll();
        return first != null ? first : (aheadFirst ? wanted : ahead).poll();
    }

    int size() {
        return wanted.size + ahead.size;
    }

    /** The waiting tenants, in the order of their turns. */
    private static final class Line {
        private final Map<String, ArrayDeque<Runnable>> tenants = new LinkedHashMap<>();
        private int size;

        void add(String tenant, Runnable fetch) {
            tenants.computeIfAbsent(tenant, _ -> new ArrayDeque<>()).add(fetch);
            size++;
        }

        @Nullable
        Runnable poll() {
            Iterator<Map.Entry<String, ArrayDeque<Runnable>>> next = tenants.entrySet().iterator();
            if (!next.hasNext()) {
                return null;
            }
            Map.Entry<String, ArrayDeque<Runnable>> first = next.next();
            ArrayDeque<Runnable> fetches = first.getValue();
            Runnable fetch = fetches.poll();
            next.remove();
            if (!fetches.isEmpty()) {
                tenants.put(first.getKey(), fetches);
            }
            size--;
            return fetch;
        }
    }
}
