package io.railhead.gateway.freshness;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.fill.ObjectHeaders;
import java.time.Duration;
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
     * Returns whether the object is fresh: a key that is being written, or was written since, is
     * served as {@code strong}. A rule that verifies fills also needs the store's checksums, which
     * a ranged GET does not report.
     */
    private boolean isFresh(Rule rule, ObjectMetadata held) {
        if (rule.isCacheOnly()) {
            // The index is authoritative. A stripe of writes may be a store's bucket's, too.
            return true;
        }
        return cache.writes().isSettled(held)
                && isFresh(rule.freshness(), held, rule)
                && (!rule.verifyFills() || ObjectHeaders.isComplete(held));
    }

    private boolean isFresh(Freshness freshness, ObjectMetadata held, Rule rule) {
        return switch (freshness) {
            case Freshness.Strong _ -> false;
            case Freshness.Bounded(var bound) -> isYounger(held, bound);
            // Writes need not report what becomes of a version that is not the current one.
            case Freshness.Exclusive(var maxAge) -> isPromised(rule, held)
                    && held.version().object().versionId() == null && isYounger(held, maxAge);
            case Freshness.Immutable _ -> isPromised(rule, held);
            case Freshness.CacheOnly _ -> true;
        };
    }

    private boolean isYounger(ObjectMetadata held, Duration age) {
        return nanoClock.getAsLong() - held.learntAtNanos() < age.toNanos();
    }

    /**
     * Returns whether the object was learnt under the current promise: under an earlier rule a
     * replacement was not excluded.
     */
    private static boolean isPromised(Rule rule, ObjectMetadata held) {
        return held.learntAtNanos() - rule.promisedAtNanos() >= 0;
    }
}
