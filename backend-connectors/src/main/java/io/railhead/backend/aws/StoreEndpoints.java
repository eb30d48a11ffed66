package io.railhead.backend.aws;

import io.railhead.backend.BackendException;
import io.railhead.backend.Target;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/**
 * The addresses of one store; the least busy healthy one is next. An address is ejected for a
 * growing time, and readmitted after a successful probe. It is ejected if it accepts no connection,
 * or if it is late and a probe of it is late too. It is also ejected if most of several requested
 * objects fail there ({@link FailureEvidence}). If all are ejected they are used all the same: that
 * is no worse than refusing, and each request is as good as a probe.
 */
final class StoreEndpoints {
    private static final Logger LOG = LoggerFactory.getLogger(StoreEndpoints.class);

    private final List<StoreEndpoint> all;
    private final BackoffStrategy penalty;
    private final ScheduledExecutorService timer;
    private final Function<StoreEndpoint, CompletionStage<Boolean>> probe;
    private final AtomicInteger turn = new AtomicInteger();

    StoreEndpoints(List<URI> uris, Tuning tuning, ScheduledExecutorService timer,
            Function<StoreEndpoint, CompletionStage<Boolean>> probe) {
        this.all = uris.stream().map(uri -> new StoreEndpoint(uri, tuning.ejectAfter())).toList();
        this.penalty = tuning.penalty();
        this.timer = timer;
        this.probe = probe;
    }

    /** @param avoid the endpoint of the failed attempt; chosen again only if there is no other */
    StoreEndpoint pick(@Nullable StoreEndpoint avoid) {
        StoreEndpoint best = leastBusy(avoid, true);
        if (best == null && avoid != null && avoid.isHealthy()) {
            return avoid;
        }
        if (best == null) {
            best = leastBusy(avoid, false);
        }
        return best != null ? best : all.getFirst();
    }

    private @Nullable StoreEndpoint leastBusy(@Nullable StoreEndpoint avoid, boolean onlyHealthy) {
        int start = Math.floorMod(turn.getAndIncrement(), all.size());
        StoreEndpoint best = null;
        for (int i = 0; i < all.size(); i++) {
            StoreEndpoint candidate = all.get((start + i) % all.size());
            if (candidate == avoid || (onlyHealthy && !candidate.isHealthy())) {
                continue;
            }
            if (best == null || candidate.outstanding() < best.outstanding()) {
                best = candidate;
            }
        }
        return best;
    }

    void answered(StoreEndpoint storeEndpoint, Target target) {
        storeEndpoint.answered(target);
    }

    /** Notes a 5xx response about this object. */
    void failed(StoreEndpoint storeEndpoint, Target target) {
        put(storeEndpoint, storeEndpoint.failed(target), "most objects asked for there fail");
    }

    /** Notes that there was no response about this object. */
    void failed(StoreEndpoint storeEndpoint, Target target, BackendException cause) {
        switch (cause.reason()) {
            case UNREACHABLE -> put(storeEndpoint, storeEndpoint.eject(), cause.getMessage());
            case LATE -> {
                failed(storeEndpoint, target);
                question(storeEndpoint);
            }
            case BROKEN, MALFORMED -> failed(storeEndpoint, target);
            case BUSY, RATE_LIMITED, OVERSIZED, UNSENT, INTERNAL -> {
                // These failures are not the endpoint's fault.
            }
        }
    }

    private void put(StoreEndpoint storeEndpoint, int ejections, @Nullable String why) {
        if (ejections > 0) {
            LOG.warn("endpoint {} is out: {}", storeEndpoint.uri(), why);
            probeLater(storeEndpoint, ejections);
        }
    }

    /** Probes an endpoint, since a single object may be slow by itself. */
    private void question(StoreEndpoint storeEndpoint) {
        if (!storeEndpoint.isHealthy() || !storeEndpoint.tryQuestion()) {
            return;
        }
        var _ = probe.apply(storeEndpoint).handle((answers, failure) -> {
            storeEndpoint.endQuestion();
            if (failure != null || !answers) {
                put(storeEndpoint, storeEndpoint.eject(), "it does not answer in time");
            }
            return answers;
        });
    }

    int healthy() {
        return (int) all.stream().filter(StoreEndpoint::isHealthy).count();
    }

    int size() {
        return all.size();
    }

    private void probeLater(StoreEndpoint storeEndpoint, int ejections) {
        long delayNanos = penalty.computeDelay(ejections + 1).toNanos();
        if (!timer.isShutdown()) {
            var _ = timer.schedule(() -> probe(storeEndpoint), delayNanos, TimeUnit.NANOSECONDS);
        }
    }

    private void probe(StoreEndpoint storeEndpoint) {
        if (storeEndpoint.isHealthy()) {
            return;
        }
        var _ = probe.apply(storeEndpoint).handle((answers, failure) -> {
            if (failure == null && answers) {
                LOG.info("endpoint {} answers again", storeEndpoint.uri());
                storeEndpoint.readmit();
            } else {
                int ejections = storeEndpoint.stayOut();
                if (ejections > 0) {
                    probeLater(storeEndpoint, ejections);
                }
            }
            return answers;
        });
    }
}
