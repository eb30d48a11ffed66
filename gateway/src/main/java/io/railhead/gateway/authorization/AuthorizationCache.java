package io.railhead.gateway.authorization;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.prometheus.client.Counter;
import io.railhead.cache.ObjectCache;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.metrics.Metrics;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;

/**
 * The backend's grants, remembered for as long as the rule says and never wider than asked: one
 * principal, one session, one action, one object. A write of the object, or of anything of its
 * bucket's, ends it at once: it may have changed who is allowed. Any thread.
 */
public final class AuthorizationCache {
    private static final int MAX_REMEMBERED = 1_000_000;
    /** While the heap is short: those asked for most. */
    private static final int FEW_REMEMBERED = MAX_REMEMBERED / 20;

    private final Cache<AuthorizationKey, Granted> grants = Caffeine.newBuilder()
            .maximumSize(MAX_REMEMBERED)
            .build();
    private final ConcurrentMap<String, Long> revokedAtNanos = new ConcurrentHashMap<>();
    private final LongSupplier nanoClock;
    private final ObjectCache cache;
    private final Counter.Child remembered;
    private final Counter.Child allowed;
    private final Counter.Child denied;

    /** @param cache knows what was written */
    public AuthorizationCache(LongSupplier nanoClock, ObjectCache cache, Metrics metrics) {
        this.nanoClock = nanoClock;
        this.cache = cache;
        this.remembered = metrics.authorizations.labels("remembered", "allowed");
        this.allowed = metrics.authorizations.labels("store", "allowed");
        this.denied = metrics.authorizations.labels("store", "denied");
    }

    /** When the backend was asked, and the key's generation then. */
    private record Granted(long atNanos, long generation) {}

    /**
     * Whether nobody need be asked: the policy file decides, which has allowed the request already,
     * or the backend's yes is still remembered.
     */
    public boolean isGranted(AuthorizationKey authorizationKey, Rule rule) {
        if (rule.policyDecides()) {
            return true;
        }
        Duration remember = rule.rememberAuthorization();
        if (remember.isZero()) {
            return false;
        }
        Granted granted = grants.getIfPresent(authorizationKey);
        boolean isGranted = granted != null
                && nanoClock.getAsLong() - granted.atNanos < remember.toNanos()
                && cache.isUntouchedSince(authorizationKey.object(), granted.atNanos,
                        granted.generation);
        if (isGranted) {
            remembered.inc();
        }
        return isGranted;
    }

    /**
     * Remembers that the backend allowed it.
     *
     * @param askedAtNanos when the backend was asked
     * @param generation of the object's key at that moment
     */
    public void grant(AuthorizationKey authorizationKey, long askedAtNanos, long generation) {
        allowed.inc();
        grants.put(authorizationKey, new Granted(askedAtNanos, generation));
        Long revoked = revokedAtNanos.get(authorizationKey.principal());
        if (revoked != null && askedAtNanos - revoked <= 0) {
            grants.invalidate(authorizationKey);
        }
    }

    /**
     * The heap is short: only few are remembered from now on; the stores are asked for the rest.
     */
    public void rememberFew() {
        remember(FEW_REMEMBERED);
    }

    public void rememberMany() {
        remember(MAX_REMEMBERED);
    }

    private void remember(int most) {
        grants.policy().eviction().orElseThrow().setMaximum(most);
        grants.cleanUp();
    }

    /** Forgets it: the backend refused. */
    public void revoke(AuthorizationKey authorizationKey) {
        denied.inc();
        grants.invalidate(authorizationKey);
    }

    /**
     * Forgets everything a principal was allowed, as when its credential changes, and what it is
     * being asked for now.
     */
    public void revokeAll(String principal) {
        // Before: what is on its way looks after it has put its own.
        revokedAtNanos.put(principal, nanoClock.getAsLong());
        grants.asMap()
                .keySet()
                .removeIf(authorizationKey -> authorizationKey.principal().equals(principal));
    }
}
