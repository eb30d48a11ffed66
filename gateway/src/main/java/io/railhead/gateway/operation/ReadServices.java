package io.railhead.gateway.operation;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.admin.Metrics;
import io.railhead.gateway.authorization.Grant;
import io.railhead.gateway.authorization.Grants;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.RdmaDeadlines;
import io.railhead.gateway.freshness.Absences;
import io.railhead.gateway.freshness.Revalidations;
import io.railhead.rdma.Fabric;
import io.vertx.core.Vertx;
import java.util.function.LongSupplier;

/** What reads work with. */
public record ReadServices(Vertx vertx, ObjectCache cache, Grants grants,
        Absences absences, Revalidations revalidations, Relay relay,
        Fabric fabric, RdmaDeadlines deadlines, LongSupplier nanoClock, Metrics metrics,
        long pageBytes, long runBytes) {

    /**
     * Whether what is held is served, and counted, for want of a store: where the rule says so, to
     * whom it may be, and if no write of which its client was told has replaced it.
     */
    boolean mayServeStale(ObjectMetadata held, Rule rule, Grant grant) {
        boolean may = rule.staleIfError() && cache.isSettled(held)
                && grants.isGranted(grant, rule);
        if (may) {
            metrics.staleServed.labels(rule.backend()).inc();
        }
        return may;
    }

    /** The same for a request whose bytes go another way. */
    public ReadServices withFabric(Fabric other) {
        return new ReadServices(vertx, cache, grants, absences, revalidations, relay, other,
                deadlines,
                nanoClock, metrics, pageBytes, runBytes);
    }

    /** The same for requests that wait differently. */
    public ReadServices withDeadlines(RdmaDeadlines others) {
        return new ReadServices(vertx, cache, grants, absences, revalidations, relay, fabric,
                others,
                nanoClock, metrics, pageBytes, runBytes);
    }
}
