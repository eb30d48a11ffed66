package io.railhead.gateway.admission;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.prometheus.client.Counter;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Admits requests, whichever way they came. Any thread; a few atomic counters, no lock.
 *
 * <p> Whoever is alone may have all that the limits allow. Where they are reached, only those are
 * taken on who have less than their fair share: the limit divided by how many have something in
 * flight. So a flood does not keep others out, although nothing was kept free for them; and since
 * fair shares are no more than the limit together, the limit is passed at most once over. That is
 * where everybody is refused.
 */
public final class Admission {
    private static final String NO_TENANT = "default";

    private volatile Limits limits;
    private final BooleanSupplier shedding;
    private final Counter refused;
    private final InFlightCounter all = new InFlightCounter();
    private final AtomicInteger active = new AtomicInteger();
    /** Gone when nobody has one in hand: addresses are anybody's to invent. */
    private final LoadingCache<Key, TenantInFlight> shares = Caffeine.newBuilder()
            .weakValues()
            .executor(Runnable::run)
            .build(key -> new TenantInFlight(key.isAddress() ? "" : key.name()));

    /** Who shares: a tenant; a principal of no tenant; an address of whom nobody knows. */
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
     * Takes on as many as {@code limits} allow.
     *
     * @param shedding whether nothing new may be begun at all
     * @param refused by reason and tenant
     */
    public Admission(Limits limits, BooleanSupplier shedding, Counter refused) {
        this.limits = limits;
        this.shedding = shedding;
        this.refused = refused;
    }

    /** Whose request it is. */
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
     * Takes a request on.
     *
     * @param bytes what is known of its body, in whichever direction
     * @throws S3Refusal SlowDown
     */
    public Permit enter(TenantInFlight tenantInFlight, long bytes) {
        Permit permit = begin(tenantInFlight, bytes);
        String reason = reasonAgainst(tenantInFlight);
        if (reason != null) {
            permit.close();
            throw refusal(tenantInFlight, reason);
        }
        return permit;
    }

    /** The same; null in place of a refusal, which is not counted: somebody will ask again. */
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
     * Lets a request pass that takes nothing but a moment, and is not counted.
     *
     * @throws S3Refusal SlowDown
     */
    public void pass(TenantInFlight tenantInFlight) {
        String reason = reasonAgainst(tenantInFlight);
        if (reason != null) {
            throw refusal(tenantInFlight, reason);
        }
    }

    private S3Refusal refusal(TenantInFlight tenantInFlight, String reason) {
        refused.labels(reason, tenantInFlight.name()).inc();
        return new S3Refusal(S3Error.SLOW_DOWN);
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

    /** @param least what everybody may have of it, however many they are */
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

    /** Other limits from now on; who was taken on stays. */
    public void limit(Limits others) {
        limits = others;
    }

    public int requests() {
        return all.requests();
    }

    public long bytes() {
        return all.bytes();
    }

    /** How many have something in flight. */
    public int active() {
        return active.get();
    }
}
