package io.railhead.backend.aws;

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
 * The addresses of one store: the least busy healthy one is next. An address that fails several
 * times in a row is put out for a growing while and let back in by a probe. When all are out they
 * are used all the same: that is never worse than refusing, and a request is as good as a probe.
 */
final class Endpoints {
    private static final Logger LOG = LoggerFactory.getLogger(Endpoints.class);

    private final List<Endpoint> all;
    private final int ejectAfter;
    private final BackoffStrategy penalty;
    private final ScheduledExecutorService timer;
    private final Function<Endpoint, CompletionStage<Boolean>> probe;
    private final AtomicInteger turn = new AtomicInteger();

    Endpoints(List<URI> uris, Tuning tuning, ScheduledExecutorService timer,
            Function<Endpoint, CompletionStage<Boolean>> probe) {
        this.all = uris.stream().map(Endpoint::new).toList();
        this.ejectAfter = tuning.ejectAfter();
        this.penalty = tuning.penalty();
        this.timer = timer;
        this.probe = probe;
    }

    /**
     * @param avoid where the attempt before failed; chosen again only if there is nothing else
     */
    Endpoint pick(@Nullable Endpoint avoid) {
        Endpoint best = leastBusy(avoid, true);
        if (best == null && avoid != null && avoid.isHealthy()) {
            return avoid;
        }
        if (best == null) {
            best = leastBusy(avoid, false);
        }
        return best != null ? best : all.getFirst();
    }

    private @Nullable Endpoint leastBusy(@Nullable Endpoint avoid, boolean onlyHealthy) {
        int start = Math.floorMod(turn.getAndIncrement(), all.size());
        Endpoint best = null;
        for (int i = 0; i < all.size(); i++) {
            Endpoint candidate = all.get((start + i) % all.size());
            if (candidate == avoid || (onlyHealthy && !candidate.isHealthy())) {
                continue;
            }
            if (best == null || candidate.outstanding() < best.outstanding()) {
                best = candidate;
            }
        }
        return best;
    }

    void succeeded(Endpoint endpoint) {
        endpoint.succeeded();
    }

    void failed(Endpoint endpoint) {
        int ejections = endpoint.failed(ejectAfter);
        if (ejections > 0) {
            LOG.warn("endpoint {} failed {} times in a row: out", endpoint.uri(), ejectAfter);
            probeLater(endpoint, ejections);
        }
    }

    int healthy() {
        return (int) all.stream().filter(Endpoint::isHealthy).count();
    }

    int size() {
        return all.size();
    }

    private void probeLater(Endpoint endpoint, int ejections) {
        long delayNanos = penalty.computeDelay(ejections + 1).toNanos();
        if (!timer.isShutdown()) {
            var _ = timer.schedule(() -> probe(endpoint), delayNanos, TimeUnit.NANOSECONDS);
        }
    }

    private void probe(Endpoint endpoint) {
        if (endpoint.isHealthy()) {
            return;
        }
        var _ = probe.apply(endpoint).handle((answers, failure) -> {
            if (failure == null && answers) {
                LOG.info("endpoint {} answers again", endpoint.uri());
                endpoint.readmit(ejectAfter);
            } else {
                int ejections = endpoint.stayOut();
                if (ejections > 0) {
                    probeLater(endpoint, ejections);
                }
            }
            return answers;
        });
    }
}
