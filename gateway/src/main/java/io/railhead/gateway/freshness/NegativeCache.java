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
 * Remembers for seconds that an object was not there, as one principal was told, and for nobody
 * else. Where the rule promises the store's own read-after-write nothing is remembered; a write of
 * the key, or of anything of its bucket's, ends it at once. Any thread.
 */
public final class NegativeCache {
    private static final String DELETE_MARKER = "x-amz-delete-marker";

    /** How long at most, whatever the rule allows for what is there. */
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final int MAX_REMEMBERED = 100_000;

    private final Cache<AuthorizationKey, Absence> absences = Caffeine.newBuilder()
            .executor(Runnable::run)
            .maximumSize(MAX_REMEMBERED)
            .expireAfterWrite(LONGEST.multipliedBy(2))
            .build();
    private final LongSupplier nanoClock;
    private final ObjectCache cache;

    /** How exactly it was said. */
    public enum Said {
        /** 404, and nothing more. */
        BY_STATUS,
        /** That the bucket has no such key. */
        BY_CODE
    }

    /** When the backend was asked, and the key's generation then. */
    private record Absence(Said said, long atNanos, long generation) {}

    /** @param cache knows what was written */
    public NegativeCache(LongSupplier nanoClock, ObjectCache cache) {
        this.nanoClock = nanoClock;
        this.cache = cache;
    }

    /**
     * Returns whether a 404 tells of a delete marker, so that it must be passed on as it is.
     * s3proxy sends the header as {@code false} with every 404.
     */
    public static boolean isDeleteMarker(Headers refusal) {
        String value = refusal.get(DELETE_MARKER);
        return value != null && !value.strip().equalsIgnoreCase("false");
    }

    /** Whether it need not be asked for again now. */
    public boolean isAbsent(AuthorizationKey authorizationKey, Rule rule, Said needed) {
        Absence absence = absences.getIfPresent(authorizationKey);
        return absence != null && absence.said.compareTo(needed) >= 0
                && nanoClock.getAsLong() - absence.atNanos < bound(rule).toNanos()
                && cache.isUntouchedSince(authorizationKey.object(), absence.atNanos,
                        absence.generation);
    }

    /** Whether anything is to be remembered under this rule. */
    public static boolean isRemembered(Rule rule) {
        return !bound(rule).isZero();
    }

    /**
     * Remembers it.
     *
     * @param askedAtNanos when the backend was asked
     * @param generation of the object's key at that moment
     */
    public void learn(AuthorizationKey authorizationKey, Said said, long askedAtNanos,
            long generation) {
        absences.put(authorizationKey, new Absence(said, askedAtNanos, generation));
    }

    /** Who may ask no longer is to hear that, and not of what there is not. */
    private static Duration bound(Rule rule) {
        Duration fresh = switch (rule.freshness()) {
            case Freshness.Strong _ -> Duration.ZERO;
            case Freshness.Bounded(var bound) -> shorter(bound, LONGEST);
            case Freshness.Exclusive _,Freshness.Immutable _ -> LONGEST;
        };
        return rule.policyDecides() ? fresh : shorter(fresh, rule.rememberAuthorization());
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
