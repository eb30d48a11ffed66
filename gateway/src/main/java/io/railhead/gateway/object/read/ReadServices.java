package io.railhead.gateway.object.read;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.RdmaDeadlines;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Revalidations;
import io.railhead.gateway.freshness.Servability;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.S3Request;
import io.railhead.rdma.Fabric;
import io.vertx.core.Vertx;
import java.util.function.LongSupplier;

/** The services that reads use. */
public record ReadServices(Vertx vertx, Servability servability, NegativeCache absences,
        Revalidations revalidations, Relay relay, Fabric fabric, RdmaDeadlines deadlines,
        Metrics metrics, long pageBytes, long runBytes) {

    public ObjectCache cache() {
        return servability.cache();
    }

    public AuthorizationCache grants() {
        return servability.grants();
    }

    public LongSupplier nanoClock() {
        return servability.nanoClock();
    }

    /**
     * Decides whether a GET is served without asking the store. An object that came by a ranged GET
     * lacks its checksums: a client that wants checksums waits for a HEAD.
     */
    boolean mayServe(ObjectMetadata held, S3Request request, AuthorizationKey reader) {
        return !ReadRules.asksAnew(request)
                && (ObjectHeaders.isComplete(held) || !AnswerHead.wantsChecksums(request))
                && servability.allows(reader, request.route().rule(), held);
    }

    /** Decides whether a cached object is served while the store is away, and counts it. */
    boolean mayServeStale(ObjectMetadata held, S3Request request, AuthorizationKey reader) {
        Rule rule = request.route().rule();
        boolean may = !ReadRules.asksAnew(request)
                && servability.allowsStale(reader, rule, held);
        if (may) {
            metrics.staleServed.labels(rule.backend()).inc();
        }
        return may;
    }

    /** Returns the same services with another fabric. */
    public ReadServices withFabric(Fabric other) {
        return new ReadServices(vertx, servability, absences, revalidations, relay, other,
                deadlines, metrics, pageBytes, runBytes);
    }

    /** Returns the same services with other deadlines. */
    public ReadServices withDeadlines(RdmaDeadlines others) {
        return new ReadServices(vertx, servability, absences, revalidations, relay, fabric,
                others, metrics, pageBytes, runBytes);
    }
}
