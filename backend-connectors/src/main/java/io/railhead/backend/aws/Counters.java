package io.railhead.backend.aws;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendStats;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The counters behind {@link BackendStats}. Any thread. */
final class Counters {
    private final LongAdder requests = new LongAdder();
    private final LongAdder rangedGets = new LongAdder();
    private final LongAdder heads = new LongAdder();
    private final LongAdder retries = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder bytesIn = new LongAdder();
    private final LongAdder bytesOut = new LongAdder();
    private volatile @Nullable StoreRate rate;

    /** Sets the rate that bytes are charged to. */
    void charge(@Nullable StoreRate charged) {
        rate = charged;
    }

    void sent(BackendRequest request, int attempt) {
        requests.increment();
        if (attempt > 1) {
            retries.increment();
        }
        if (request.method().equals("HEAD")) {
            heads.increment();
        } else if (request.method().equals("GET") && request.headers().contains("Range")) {
            rangedGets.increment();
        }
    }

    void failed() {
        failures.increment();
    }

    void received(int bytes) {
        bytesIn.add(bytes);
        moved(bytes);
    }

    void wrote(int bytes) {
        bytesOut.add(bytes);
        moved(bytes);
    }

    private void moved(int bytes) {
        StoreRate charged = rate;
        if (charged != null) {
            charged.moved(bytes);
        }
    }

    BackendStats snapshot(int healthyEndpoints, int endpoints, FetchGate.State fetches) {
        StoreRate charged = rate;
        return new BackendStats(requests.sum(), rangedGets.sum(), heads.sum(), retries.sum(),
                failures.sum(), bytesIn.sum(), bytesOut.sum(), healthyEndpoints, endpoints,
                fetches.limit(), fetches.underWay(), fetches.waiting(),
                charged == null ? 0 : charged.waiting(), charged == null ? 0 : charged.delayed());
    }
}
