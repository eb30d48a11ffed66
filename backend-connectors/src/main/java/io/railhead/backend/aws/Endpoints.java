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
 * The addresses of one store: the least busy healthy one is next. An address is put out for a
 * growing while, and let back in by a probe, when it takes no connection, when it is late and a
 * probe of it is, too, or when most of several objects fail there ({@link Evidence}). When all are
 * out they are used all the same: that is never worse than refusing, and a request is as good as a
 * probe.
 */
final class Endpoints {
    private static final Logger LOG = LoggerFactory.getLogger(Endpoints.class);

    private final List<Endpoint> all;
    private final BackoffStrategy penalty;
    private final ScheduledExecutorService timer;
    private final Function<Endpoint, CompletionStage<Boolean>> probe;
    private final AtomicInteger turn = new AtomicInteger();

    Endpoints(List<URI> uris, Tuning tuning, ScheduledExecutorService timer,
            Function<Endpoint, CompletionStage<Boolean>> probe) {
        this.all = uris.stream().map(uri -> new Endpoint(uri, tuning.ejectAfter())).toList();
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

    void answered(Endpoint endpoint, Target target) {
        endpoint.answered(target);
    }

    /** It answered 5xx about this object. */
    void failed(Endpoint endpoint, Target target) {
        put(endpoint, endpoint.failed(target), "most objects asked for there fail");
    }

    /** It did not answer about this object. */
    void failed(Endpoint endpoint, Target target, BackendException cause) {
        switch (cause.reason()) {
            case UNREACHABLE -> put(endpoint, endpoint.eject(), cause.getMessage());
            case LATE -> {
                failed(endpoint, target);
                question(endpoint);
            }
            case BROKEN, MALFORMED -> failed(endpoint, target);
            case BUSY, OVERSIZED, UNSENT -> {
                // Nothing of it is the endpoint's fault.
            }
        }
    }

    private void put(Endpoint endpoint, int ejections, @Nullable String why) {
        if (ejections > 0) {
            LOG.warn("endpoint {} is out: {}", endpoint.uri(), why);
            probeLater(endpoint, ejections);
        }
    }

    /** One object may be what takes its time, so the endpoint is asked about itself. */
    private void question(Endpoint endpoint) {
        if (!endpoint.isHealthy() || !endpoint.tryQuestion()) {
            return;
        }
        var _ = probe.apply(endpoint).handle((answers, failure) -> {
            endpoint.endQuestion();
            if (failure != null || !answers) {
                put(endpoint, endpoint.eject(), "it does not answer in time");
            }
            return answers;
        });
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
                endpoint.readmit();
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
