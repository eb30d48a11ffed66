package io.railhead.gateway.admission;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The names of senders in metrics. The first ones keep theirs, all others share one, so that the
 * number of series is bounded. Any thread.
 */
final class BoundedNames {
    static final String OTHER = "__other__";

    private final int most;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    BoundedNames(int most) {
        this.most = most;
    }

    String of(String name) {
        return known.contains(name) || met(name) ? name : OTHER;
    }

    private boolean met(String name) {
        if (known.size() >= most) {
            return false;
        }
        synchronized (this) {
            return known.contains(name) || (known.size() < most && known.add(name));
        }
    }
}
