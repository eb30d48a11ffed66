package io.railhead.gateway.object.read;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.request.S3Request;
import io.railhead.protocol.token.Dialects;
import org.jspecify.annotations.Nullable;

/**
 * Finds requests that can be answered at once: plain reads of bytes that are all cached, fresh by
 * their rule and permitted. Nothing is fetched or waited for. Any thread; never blocks.
 */
public final class HitLookup {
    /** A query parameter by which SDKs name the operation; it changes nothing. */
    private static final String OF_SDKS = "x-id";

    private final ReadServices services;
    private final AccessControl access;

    public HitLookup(ReadServices services, AccessControl access) {
        this.services = services;
        this.access = access;
    }

    /**
     * Plans the response; null if the request is not such a hit. A null has no side effect except
     * counts of the authorization cache.
     *
     * @param mostBytes the longest response
     */
    public @Nullable ReadPlan find(S3Request request, long mostBytes) {
        if (!isPlain(request)) {
            return null;
        }
        ObjectId id = request.objectId();
        ObjectMetadata held = services.cache().find(id);
        if (held == null || !mayHave(held, request)) {
            return null;
        }
        ReadPlan plan = ReadPlan.of(held, request.range());
        if (plan == null || plan.length() > mostBytes || !isHeld(plan)) {
            return null;
        }
        return access.allows(request) && !isReadOn(plan, request)
                && ReadRules.mayServe(services, held, request, ReadRules.grant(request, id))
                        ? plan
                        : null;
    }

    private static boolean isPlain(S3Request request) {
        return request.method().equals("GET") && request.namesObject()
                && !request.isPassedThrough()
                && request.query().allNames(OF_SDKS::equals)
                && request.header("if-match") == null
                && !request.headers().anyName(Dialects::isHeader)
                && ReadRules.isCacheable(request);
    }

    /** Excludes empty objects: some stores answer every range of them, others none. */
    private static boolean mayHave(ObjectMetadata held, S3Request request) {
        long size = held.version().sizeBytes();
        Rule rule = request.route().rule();
        return size > 0 && size <= rule.maxObject().bytes();
    }

    private boolean isHeld(ReadPlan plan) {
        return services.cache().holds(plan.metadata().version(), plan.from(), plan.to());
    }

    /** Returns whether read-ahead is due, because the client reads the object in sequence. */
    private boolean isReadOn(ReadPlan plan, S3Request request) {
        return plan.length() < plan.sizeBytes()
                && services.cache()
                        .readAhead()
                        .isDue(plan.metadata().version(), plan.from(), plan.to(),
                                ReadRules.reader(request).principal());
    }

    /** Leases a plan's bytes; see {@link ObjectCache#tryLease}. */
    public int tryLease(ReadPlan plan, @Nullable PageSlice[] slices) {
        return services.cache()
                .tryLease(plan.metadata().version(), plan.from(), plan.to(), slices);
    }

    /** Returns the length of the longest slice that {@link #tryLease} gives. */
    public int pageBytes() {
        return services.cache().pageBytes();
    }
}
