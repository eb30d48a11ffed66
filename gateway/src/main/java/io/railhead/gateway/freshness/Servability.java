package io.railhead.gateway.freshness;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.fill.ObjectHeaders;
import java.util.function.LongSupplier;

/**
 * Decides whether a cached object may be served without asking the store: the one place for HTTP
 * and the native channel, GET, HEAD and tokens. Its callers check for requests that demand
 * revalidation, or that want checksums which the cache does not have. Any thread; allocates
 * nothing.
 */
public record Servability(ObjectCache cache, AuthorizationCache grants, LongSupplier nanoClock) {

    /** Decides for one reader. Counts the use of a remembered grant. */
    public boolean allows(AuthorizationKey reader, Rule rule, ObjectMetadata held) {
        return isFresh(rule, held) && grants.isGranted(reader, rule);
    }

    /**
     * Decides for one reader while the store is away. The rule must allow it, and no confirmed
     * write may have replaced the object.
     */
    public boolean allowsStale(AuthorizationKey reader, Rule rule, ObjectMetadata held) {
        return rule.staleIfError() && cache.writes().isSettled(held)
                && grants.isGranted(reader, rule);
    }

    /**
     * Returns whether the object is fresh. A rule that verifies fills also needs the store's
     * checksums, which a ranged GET does not report.
     */
    private boolean isFresh(Rule rule, ObjectMetadata held) {
        return FreshnessCheck.isFresh(rule, held, nanoClock.getAsLong(),
                cache.writes().isSettled(held))
                && (!rule.verifyFills() || ObjectHeaders.isComplete(held));
    }
}
