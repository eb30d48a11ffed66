package io.railhead.gateway.authorization;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.railhead.gateway.config.Rule;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * What the backend allowed, remembered for as long as the rule says and never wider than asked: one
 * principal, one session, one action, one object. Any thread.
 */
public final class Grants {
    private static final int MAX_REMEMBERED = 1_000_000;

    private final Cache<Grant, Long> grants = Caffeine.newBuilder()
            .maximumSize(MAX_REMEMBERED)
            .build();
    private final LongSupplier nanoClock;

    public Grants(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /**
     * Whether nobody need be asked: the policy file decides, which has allowed the request already,
     * or the backend's yes is still remembered.
     */
    public boolean isGranted(Grant grant, Rule rule) {
        if (rule.policyDecides()) {
            return true;
        }
        Duration remember = rule.rememberAuthorization();
        if (remember.isZero()) {
            return false;
        }
        Long grantedAt = grants.getIfPresent(grant);
        return grantedAt != null && nanoClock.getAsLong() - grantedAt < remember.toNanos();
    }

    /**
     * Remembers that the backend allowed it.
     *
     * @param askedAtNanos when the backend was asked
     */
    public void grant(Grant grant, long askedAtNanos) {
        grants.put(grant, askedAtNanos);
    }

    public void revoke(Grant grant) {
        grants.invalidate(grant);
    }

    /** Forgets everything a principal was allowed, as when its credential changes. */
    public void revokeAll(String principal) {
        grants.asMap().keySet().removeIf(grant -> grant.principal().equals(principal));
    }
}
