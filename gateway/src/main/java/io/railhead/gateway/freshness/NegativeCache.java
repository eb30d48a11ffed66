package io.railhead.gateway.freshness;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.railhead.backend.Headers;
import io.railhead.cache.ObjectCache;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Remembers for seconds that an object is absent, for the one principal that learnt it. Nothing is
 * remembered if the rule promises the store's own read-after-write. A write of the key, or of
 * anything in its bucket, ends the entry at once. Any thread.
 */
public final class NegativeCache {
    private static final String DELETE_MARKER = "x-amz-delete-marker";

    /** The upper bound of an entry's time, whatever the rule allows for existing objects. */
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final int MAX_REMEMBERED = 100_000;

    private final Cache<AuthorizationKey, Absence> absences = Caffeine.newBuilder()
            .executor(Runnable::run)
            .maximumSize(MAX_REMEMBERED)
            .expireAfterWrite(LONGEST.multipliedBy(2))
            .build();
    private final LongSupplier nanoClock;
    private final ObjectCache cache;

    /** The precision of a store's refusal. */
    public enum Said {
        /** The status 404 alone. */
        BY_STATUS,
        /** The code that the bucket has no such key. */
        BY_CODE
    }

    /** The time when the backend was asked, and the key's write epoch then. */
    private record Absence(Said said, long atNanos, long generation) {}

    /** @param cache has the write epochs of keys */
    public NegativeCache(LongSupplier nanoClock, ObjectCache cache) {
        this.nanoClock = nanoClock;
        this.cache = cache;
    }

    /**
     * Returns whether a 404 concerns a delete marker, so that it must be passed on unchanged.
     * s3proxy sends the header as {@code false} with every 404.
     */
    public static boolean isDeleteMarker(Headers refusal) {
        String value = refusal.get(DELETE_MARKER);
        return value != null && !value.strip().equalsIgnoreCase("false");
    }

    /**
     * Returns whether an object that the cache does not know is known to be absent, so that the
     * store need not be asked. A cache-only object exists nowhere else.
     */
    public boolean isAbsent(AuthorizationKey authorizationKey, Rule rule, Said needed) {
        if (rule.isCacheOnly()) {
            return true;
        }
        Absence absence = absences.getIfPresent(authorizationKey);
        return absence != null && absence.said.compareTo(needed) >= 0
                && nanoClock.getAsLong() - absence.atNanos < bound(rule).toNanos()
                && cache.writes()
                        .isUntouchedSince(authorizationKey.object(), absence.atNanos,
                                absence.generation);
    }

    /** Returns whether absence may be remembered under this rule. */
    public static boolean isRemembered(Rule rule) {
        return !bound(rule).isZero();
    }

    /**
     * Remembers an absence.
     *
     * @param askedAtNanos when the backend was asked
     * @param generation the write epoch of the object's key at that moment
     */
    public void learn(AuthorizationKey authorizationKey, Said said, long askedAtNanos,
            long generation) {
        absences.put(authorizationKey, new Absence(said, askedAtNanos, generation));
    }

    /**
     * Returns how long an absence holds, at most as long as a permission. A caller that has lost
     * the permission must not learn what is absent.
     */
    private static Duration bound(Rule rule) {
        Duration fresh = switch (rule.freshness()) {
            case Freshness.Strong _,Freshness.CacheOnly _ -> Duration.ZERO;
            case Freshness.Bounded(var bound) -> shorter(bound, LONGEST);
            case Freshness.Exclusive _,Freshness.Immutable _ -> LONGEST;
        };
        return rule.policyDecides() ? fresh : shorter(fresh, rule.rememberAuthorization());
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
