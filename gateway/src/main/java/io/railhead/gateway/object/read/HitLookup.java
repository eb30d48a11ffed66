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
 * Reads for whose answer nobody need be asked, nothing fetched and nothing waited for: plain ones,
 * of what is held whole, fresh by its rule and allowed. Any thread; never blocks.
 */
public final class HitLookup {
    /** What SDKs say of themselves there changes nothing. */
    private static final String OF_SDKS = "x-id";

    private final ReadServices services;
    private final AccessControl access;

    public HitLookup(ReadServices services, AccessControl access) {
        this.services = services;
        this.access = access;
    }

    /**
     * What it is to be answered with; null where it is another request than that. Whoever handles
     * it then finds all as it was, but for what was counted of a right that is asked for again.
     *
     * @param mostBytes of an answer
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
                && services.mayServe(held, request, ReadRules.grant(request, id))
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

    /** Of an object without bytes some stores answer every range, others none. */
    private static boolean mayHave(ObjectMetadata held, S3Request request) {
        long size = held.version().sizeBytes();
        Rule rule = request.route().rule();
        return size > 0 && size <= rule.maxObject().bytes();
    }

    private boolean isHeld(ReadPlan plan) {
        return services.cache().holds(plan.metadata().version(), plan.from(), plan.to());
    }

    /** Whether more of it has to be fetched for whoever reads it bit by bit. */
    private boolean isReadOn(ReadPlan plan, S3Request request) {
        return plan.length() < plan.sizeBytes()
                && services.cache()
                        .readAhead()
                        .isDue(plan.metadata().version(), plan.from(), plan.to(),
                                ReadRules.reader(request).principal());
    }

    /** Leases a plan's bytes, as {@link ObjectCache#tryLease} says. */
    public int tryLease(ReadPlan plan, @Nullable PageSlice[] slices) {
        return services.cache()
                .tryLease(plan.metadata().version(), plan.from(), plan.to(), slices);
    }

    /** The longest slice that {@link #tryLease} gives. */
    public int pageBytes() {
        return services.cache().pageBytes();
    }
}
