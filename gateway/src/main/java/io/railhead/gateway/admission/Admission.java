package io.railhead.gateway.admission;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.prometheus.client.Counter;
import io.railhead.gateway.config.RateLimits;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Admits requests over HTTP and the native channel. Any thread; a few atomic counters, no lock.
 *
 * <p> A single tenant may use all that the limits allow. At a limit, only tenants below their fair
 * share are admitted: the limit divided by the number of tenants with requests in flight. So a
 * flood does not keep others out, although nothing is reserved for them. Fair shares add up to the
 * limit, so at most twice the limit is in flight; above that everybody is refused.
 *
 * <p> Beside that a tenant may have a rate: requests and bytes a second, whatever others do.
 */
public final class Admission {
    private static final String NO_TENANT = "default";
    private static final int MOST_NAMES = 200;

    private volatile Limits limits;
    private final BooleanSupplier shedding;
    private final Counter refused;
    private final Counter rateLimited;
    private final BoundedNames names = new BoundedNames(MOST_NAMES);
    private final LongSupplier nanoClock;
    private volatile TenantRates rates;
    private final InFlightCounter all = new InFlightCounter();
    private final AtomicInteger active = new AtomicInteger();
    /** Weak values: a quota goes with its last request, since anybody can invent addresses. */
    private final LoadingCache<Key, TenantInFlight> shares = Caffeine.newBuilder()
            .weakValues()
            .executor(Runnable::run)
            .build(key -> new TenantInFlight(key, key.isAddress() ? "" : key.name()));

    /**
     * The sharer of a quota: a tenant, a principal without a tenant, or the address of an unknown
     * sender.
     */
    private record Key(Kind kind, String name) {
        private enum Kind {
            TENANT,
            PRINCIPAL,
            ADDRESS
        }

        boolean isAddress() {
            return kind == Kind.ADDRESS;
        }
    }

    /**
     * Admits as many requests as {@code limits} allow.
     *
     * @param shedding true while no new request may begin
     * @param refused by reason and tenant
     * @param rateLimited by tenant and limit
     * @param nanoClock the clock of rates
     */
    public Admission(Limits limits, BooleanSupplier shedding, Counter refused,
            Counter rateLimited, LongSupplier nanoClock) {
        this.limits = limits;
        this.shedding = shedding;
        this.refused = refused;
        this.rateLimited = rateLimited;
        this.nanoClock = nanoClock;
        this.rates = new TenantRates(RateLimits.NONE, nanoClock);
    }

    /** Returns the quota that a request counts against. */
    public TenantInFlight share(Authentication authentication, RequestSource requestSource) {
        return authentication instanceof Authentication.Known known
                ? share(known.principal())
                : shares.get(new Key(Key.Kind.ADDRESS, String.valueOf(requestSource.source())));
    }

    public TenantInFlight share(Principal principal) {
        return shares.get(principal.tenant().equals(NO_TENANT)
                ? new Key(Key.Kind.PRINCIPAL, principal.name())
                : new Key(Key.Kind.TENANT, principal.tenant()));
    }

    /**
     * Admits a request, which takes one of its tenant's requests a second.
     *
     * @param bytes the known length of its body, in either direction
     * @throws S3Refusal SlowDown, if the request is not admitted
     */
    public Permit enter(TenantInFlight tenantInFlight, long bytes) {
        Permit permit = enterPassed(tenantInFlight, bytes);
        TenantRate rate = tenantInFlight.rate(rates);
        String limit = rate == null ? null : rate.tryTake();
        if (rate != null && limit != null) {
            permit.close();
            throw refusal(tenantInFlight, rate, limit);
        }
        return permit;
    }

    /** Admits a request as {@link #enter} does, whose rate {@link #pass} has taken already. */
    public Permit enterPassed(TenantInFlight tenantInFlight, long bytes) {
        Permit permit = begin(tenantInFlight, bytes);
        String reason = reasonAgainst(tenantInFlight);
        if (reason != null) {
            permit.close();
            throw refusal(tenantInFlight, reason);
        }
        return permit;
    }

    /**
     * Admits a request as {@link #enter} does, but returns null in place of a refusal. That is not
     * counted, since the caller will enter again. The rate is left to {@link Permit#tryTake}.
     */
    public @Nullable Permit tryEnter(TenantInFlight tenantInFlight, long bytes) {
        Permit permit = begin(tenantInFlight, bytes);
        if (reasonAgainst(tenantInFlight) != null) {
            permit.close();
            return null;
        }
        return permit;
    }

    private Permit begin(TenantInFlight tenantInFlight, long bytes) {
        long held = held(bytes);
        if (tenantInFlight.use().enter(held) == 1) {
            active.incrementAndGet();
        }
        all.enter(held);
        return new Permit(this, tenantInFlight, held);
    }

    /**
     * Checks a request that takes only a moment, and does not count it as in flight. It takes one
     * of its tenant's requests a second.
     *
     * @throws S3Refusal SlowDown, if the request is not admitted
     */
    public void pass(TenantInFlight tenantInFlight) {
        String reason = reasonAgainst(tenantInFlight);
        if (reason != null) {
            throw refusal(tenantInFlight, reason);
        }
        TenantRate rate = tenantInFlight.rate(rates);
        String limit = rate == null ? null : rate.tryTake();
        if (rate != null && limit != null) {
            throw refusal(tenantInFlight, rate, limit);
        }
    }

    private S3Refusal refusal(TenantInFlight tenantInFlight, String reason) {
        refused.labels(reason, names.of(tenantInFlight.name())).inc();
        return new S3Refusal(S3Error.SLOW_DOWN);
    }

    private S3Refusal refusal(TenantInFlight tenantInFlight, TenantRate rate, String limit) {
        rateLimited.labels(names.of(tenantInFlight.name()), limit).inc();
        return new S3Refusal(S3Error.SLOW_DOWN)
                .withHeader("retry-after", Long.toString(rate.retrySeconds(limit)));
    }

    /** Takes a request and its bytes out of the tenant's rate; returns whether that was allowed. */
    boolean tryTake(TenantInFlight tenantInFlight, long bytes) {
        TenantRate rate = tenantInFlight.rate(rates);
        if (rate == null) {
            return true;
        }
        if (rate.tryTake() != null) {
            return false;
        }
        rate.charge(bytes);
        return true;
    }

    /** Takes the bytes of a body that moves out of its tenant's rate. */
    public void charge(TenantInFlight tenantInFlight, long bytes) {
        TenantRate rate = tenantInFlight.rate(rates);
        if (rate != null) {
            rate.charge(bytes);
        }
    }

    private @Nullable String reasonAgainst(TenantInFlight tenantInFlight) {
        if (shedding.getAsBoolean()) {
            return "heap";
        }
        Limits now = limits;
        if (isPast(now.requests(), all.requests(), tenantInFlight.use().requests(), 1)) {
            return "requests";
        }
        return isPast(now.bytes(), all.bytes(), tenantInFlight.use().bytes(), now.windowBytes())
                ? "bytes"
                : null;
    }

    /** @param least what every tenant may have, however many they are */
    private boolean isPast(long limit, long inFlight, long own, long least) {
        return inFlight > limit
                && (inFlight > 2 * limit
                        || own > Math.max(least, limit / Math.max(1, active.get())));
    }

    long held(long bytes) {
        return Math.min(bytes, limits.windowBytes());
    }

    void hold(TenantInFlight tenantInFlight, long moreBytes) {
        tenantInFlight.use().hold(moreBytes);
        all.hold(moreBytes);
    }

    void leave(TenantInFlight tenantInFlight, long heldBytes) {
        all.leave(heldBytes);
        if (tenantInFlight.use().leave(heldBytes) == 0) {
            active.decrementAndGet();
        }
    }

    public Limits limits() {
        return limits;
    }

    /** Sets other limits; requests that were admitted stay. */
    public void limit(Limits others) {
        limits = others;
    }

    /** Sets other rates. Tenants whose rates are new begin with a full second's worth. */
    public void limit(RateLimits others) {
        if (!others.equals(rates.limits())) {
            rates = new TenantRates(others, nanoClock);
        }
    }

    /** Returns the number of tenants and senders whose rate is known now. */
    int ratedSharers() {
        return rates.size();
    }

    public int requests() {
        return all.requests();
    }

    public long bytes() {
        return all.bytes();
    }

    /** Returns the number of quotas with requests in flight. */
    public int active() {
        return active.get();
    }
}
