package io.railhead.gateway.authorization;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.prometheus.client.Counter;
import io.railhead.cache.ObjectCache;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.metrics.Metrics;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;

/**
 * Remembered permissions of the backend: one principal, one session token, one action, one object.
 * They last as long as the rule allows. A write of the object, or of anything in its bucket, ends
 * them at once, since it may have changed permissions. Any thread.
 */
public final class AuthorizationCache {
    private static final int MAX_REMEMBERED = 1_000_000;
    /** The number that is remembered while the heap is short: the most used ones. */
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

    /** @param cache has the write epochs of keys */
    public AuthorizationCache(LongSupplier nanoClock, ObjectCache cache, Metrics metrics) {
        this.nanoClock = nanoClock;
        this.cache = cache;
        this.remembered = metrics.authorizations.labels("remembered", "allowed");
        this.allowed = metrics.authorizations.labels("store", "allowed");
        this.denied = metrics.authorizations.labels("store", "denied");
    }

    /** The time when the backend was asked, and the key's write epoch then. */
    private record Granted(long atNanos, long generation) {}

    /**
     * Returns whether the store need not be asked: the policy file decides and has allowed the
     * request, or the backend's permission is still remembered.
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
                && cache.writes()
                        .isUntouchedSince(authorizationKey.object(), granted.atNanos,
                                granted.generation);
        if (isGranted) {
            remembered.inc();
        }
        return isGranted;
    }

    /**
     * Remembers the backend's permission.
     *
     * @param askedAtNanos when the backend was asked
     * @param generation the write epoch of the object's key at that moment
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
     * Remembers few permissions from now on, since the heap is short; the stores are asked for the
     * rest.
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

    /** Forgets a permission, because the backend refused. */
    public void revoke(AuthorizationKey authorizationKey) {
        denied.inc();
        grants.invalidate(authorizationKey);
    }

    /**
     * Forgets all permissions of these principals, for example when their credentials change, and
     * those that are being asked for now. Looks once at each grant, however many names there are.
     */
    public void revokeAll(Set<String> principals) {
        if (principals.isEmpty()) {
            return;
        }
        // Set first: a grant under way checks this time after it has put its own entry.
        principals.forEach(name -> revokedAtNanos.put(name, nanoClock.getAsLong()));
        grants.asMap()
                .keySet()
                .removeIf(authorizationKey -> principals.contains(authorizationKey.principal()));
    }
}
