package io.railhead.gateway.operation;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.admin.Metrics;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.RdmaDeadlines;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.freshness.FreshnessCheck;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Revalidations;
import io.railhead.gateway.request.S3Request;
import io.railhead.rdma.Fabric;
import io.vertx.core.Vertx;
import java.util.function.LongSupplier;

/** The services that reads use. */
public record ReadServices(Vertx vertx, ObjectCache cache, AuthorizationCache grants,
        NegativeCache absences, Revalidations revalidations, Relay relay,
        Fabric fabric, RdmaDeadlines deadlines, LongSupplier nanoClock, Metrics metrics,
        long pageBytes, long runBytes) {

    /**
     * Whether what is held may be shown to whoever may read it, without asking: it is as fresh as
     * its rule promises, and knows its checksums where they are needed. A ranged GET does not tell
     * them: then a HEAD has to. Whoever asks the store anew is answered by it.
     */
    boolean isFresh(ObjectMetadata held, S3Request request) {
        Rule rule = request.route().rule();
        return FreshnessCheck.isFresh(rule, held, nanoClock.getAsLong(),
                cache.isSettled(held))
                && (ObjectHeaders.isComplete(held)
                        || !(rule.verifyFills() || AnswerHead.wantsChecksums(request)))
                && !ObjectReads.asksAnew(request);
    }

    /**
     * Whether what is held is served, and counted, for want of a store: where the rule says so, to
     * whom it may be, and if no write of which its client was told has replaced it.
     */
    boolean mayServeStale(ObjectMetadata held, S3Request request,
            AuthorizationKey authorizationKey) {
        Rule rule = request.route().rule();
        boolean may = rule.staleIfError() && cache.isSettled(held)
                && !ObjectReads.asksAnew(request) && grants.isGranted(authorizationKey, rule);
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
