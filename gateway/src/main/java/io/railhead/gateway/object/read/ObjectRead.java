package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.cache.CacheOnlyObjects;
import io.railhead.cache.CacheOnlyObjects.Raised;
import io.railhead.cache.Discovery;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Probe;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.ByteRange;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One GET of one object, from the cache lookup to the last byte. Requester's executor only.
 *
 * <pre>
 *             held? ──no──▶ discover ──own answer──────────────┐
 *              │yes            └──another's──▶ (may serve?)    │
 *              ▼                                   │           ▼
 *   fresh and authorised? ──no──▶ ask (HEAD) ──yes─┴──▶ plan the bytes ──▶ deliver
 *              └──────────────yes──────────────────────────▲
 * </pre>
 *
 * <p>A version that changes before the first byte was sent restarts the read; afterwards the body
 * is cut. Objects that may not be cached, and requests that the cache cannot judge, are relayed.
 */
public final class ObjectRead {
    private static final int MAX_RESTARTS = 3;

    private final ReadServices services;
    private final ResponseSink responseSink;
    private final S3Request request;
    private final ReadContext scope;
    private Destination destination;
    private CacheResult cacheResult = CacheResult.HIT;
    private int restarts;

    public ObjectRead(ReadServices services, S3Request request, Destination destination) {
        this.services = services;
        this.responseSink = destination.requester();
        this.request = request;
        this.destination = destination;
        this.scope = ReadContext.of(services, responseSink, request);
    }

    ReadContext scope() {
        return scope;
    }

    public void start() {
        ObjectMetadata held = services.cache().find(scope.id());
        if (held == null && isKnownToBeAbsent()) {
            services.metrics().cacheResults.labels("absent").inc();
            responseSink.fail(new S3Refusal(S3Error.NO_SUCH_KEY));
        } else if (held == null && !services.cache().keepsNew()) {
            destination.uncacheable();
        } else if (held == null) {
            discover();
        } else if (!mayServe(held)) {
            ask(held);
        } else if (scope.rule().isCacheOnly() && cacheOnly().isOnDisk(scope.id())) {
            raise();
        } else {
            serve(held);
        }
    }

    private CacheOnlyObjects cacheOnly() {
        return services.cache().cacheOnly();
    }

    /** Brings a cache-only object into memory, and starts anew: it may go again meanwhile. */
    private void raise() {
        if (++restarts > MAX_RESTARTS) {
            refuseForRoom();
            return;
        }
        cacheOnly().raise(scope.id())
                .thenAccept(raised -> responseSink.executor().execute(() -> raised(raised)));
    }

    private void raised(Raised raised) {
        if (responseSink.isOver()) {
            return;
        }
        switch (raised) {
            case SETTLED -> start();
            case NO_ROOM -> refuseForRoom();
        }
    }

    private void refuseForRoom() {
        responseSink.fail(new S3Refusal(S3Error.SLOW_DOWN,
                "The gateway has no room now to read this object from its disk."));
    }

    private boolean mayServe(ObjectMetadata held) {
        return ReadRules.mayServe(services, held, request, scope.grant());
    }

    private boolean isKnownToBeAbsent() {
        return !ReadRules.asksAnew(request) && services.absences()
                .isAbsent(scope.grant(), scope.rule(), NegativeCache.Said.BY_CODE);
    }

    private void discover() {
        if (scope.rule().isCacheOnly()) {
            // Only after a restart: the object went while it was read, or was put anew.
            start();
            return;
        }
        ByteRange range = request.range();
        boolean suffix = range != null && range.isSuffix();
        // A version that the disk may have is named by a HEAD, without bytes of the store.
        if (scope.rule().verifyFills() || suffix || services.cache().mayBeBelow(scope.id())) {
            ask(null);
            return;
        }
        DiscoveryRange asked = DiscoveryRange.around(range, services.pageBytes(),
                services.runBytes());
        if (services.owners().isElsewhere(request, asked.offset())) {
            // Its owner has the bytes, or will: this gateway asks the store for the version alone.
            ask(null);
            return;
        }
        services.cache()
                .discover(scope.id(), ReadRules.tenant(request),
                        new ObjectDiscovery(scope, asked, this))
                .whenComplete((discovery, failure) -> responseSink.executor()
                        .execute(() -> discovered(discovery)));
    }

    /**
     * Continues after a discovery. Another request's result counts only if this request may be
     * served from the cache now. Otherwise the store is asked again.
     */
    private void discovered(Discovery discovery) {
        ObjectMetadata metadata = discovery.own()
                ? discovery.metadata()
                : services.cache().find(scope.id());
        if (discovery.own()) {
            if (metadata != null) {
                cacheResult = CacheResult.MISS;
                serveOrComplete(metadata);
            }
        } else if (metadata != null && mayServe(metadata)) {
            serve(metadata);
        } else {
            ask(metadata);
        }
    }

    private void serveOrComplete(ObjectMetadata discovered) {
        if (ReadRules.tellsAll(discovered, request) || request.header("range") != null) {
            serve(discovered);
            return;
        }
        probe(probe -> {
            if (probe instanceof Probe.Unanswered || probe instanceof Probe.Failed) {
                serve(discovered);
            } else {
                asked(probe, discovered);
            }
        });
    }

    /** @param held served although the backend does not answer, if the rule allows that */
    void ask(@Nullable ObjectMetadata held) {
        probe(probe -> asked(probe, held));
    }

    private void probe(Consumer<Probe> then) {
        new ObjectProbe(services).probe(request, scope.id(), scope.grant())
                .exceptionally(Probe.Unanswered::new)
                .thenAccept(probe -> responseSink.executor().execute(() -> then.accept(probe)));
    }

    private void asked(Probe probe, @Nullable ObjectMetadata held) {
        services.metrics().revalidations
                .labels(probe.getClass().getSimpleName().toLowerCase(Locale.ROOT))
                .inc();
        switch (probe) {
            case Probe.Found(ObjectMetadata metadata) -> {
                if (held != null && cacheResult == CacheResult.HIT) {
                    cacheResult = CacheResult.REVALIDATED;
                }
                serve(metadata);
            }
            case Probe.Uncacheable _ -> destination.uncacheable();
            // Only the GET's own response carries the error document, which a HEAD has not.
            case Probe.Refused _ -> destination.refused();
            case Probe.Failed _ -> {
                if (!servedStale(held)) {
                    destination.refused();
                }
            }
            case Probe.Unanswered(Throwable failure) -> {
                if (!servedStale(held)) {
                    responseSink.fail(StoreErrors.of(failure));
                }
            }
        }
    }

    private boolean servedStale(@Nullable ObjectMetadata held) {
        if (held == null || !ReadRules.mayServeStale(services, held, request, scope.grant())) {
            return false;
        }
        cacheResult = CacheResult.STALE;
        serve(held);
        return true;
    }

    private void serve(ObjectMetadata metadata) {
        if (responseSink.isOver()) {
            return;
        }
        String ifMatch = request.header("if-match");
        if (ifMatch != null && !names(ifMatch, metadata.version().etag())) {
            destination.refused();
            return;
        }
        long size = metadata.version().sizeBytes();
        if (size > scope.rule().maxObject().bytes()) {
            destination.uncacheable();
            return;
        }
        ReadPlan plan = ReadPlan.of(metadata, request.range());
        if (plan == null && size == 0) {
            // Stores answer ranges of empty objects in many ways, some with an empty part.
            responseSink.fail(new S3Refusal(S3Error.INVALID_RANGE));
            return;
        }
        if (plan == null) {
            destination.unsatisfiable();
            return;
        }
        destination.deliver(this, plan, cacheResult);
        scope.readAhead(plan);
    }

    /** Compares an If-Match with an ETag: clients may leave the quotes out, and S3 accepts that. */
    private static boolean names(String ifMatch, String etag) {
        return ifMatch.equals(etag)
                || (etag.length() == ifMatch.length() + 2 && etag.startsWith("\"")
                        && etag.startsWith(ifMatch, 1));
    }

    /**
     * Forgets knowledge after a failed fill. A refusal concerns this principal only; a changed
     * version concerns everybody. A cache-only object that went is forgotten already, and another
     * one may have its key.
     */
    void forget(FillException cause) {
        if (scope.rule().isCacheOnly()) {
            return;
        }
        if (cause.reason() == FillException.Reason.REFUSED) {
            services.grants().revoke(scope.grant());
        } else {
            services.cache().evict(scope.id());
        }
    }

    /** Restarts the read, of which no byte has been sent. */
    void restart(FillException cause) {
        forget(cause);
        if (++restarts > MAX_RESTARTS) {
            destination.uncacheable();
        } else {
            discover();
        }
    }

    /** Restarts the read with another destination; no byte has been sent. */
    void redirect(Destination other) {
        destination = other;
        start();
    }

    /**
     * Sets the destination for the restarted read: the same memory, which may have been written
     * already.
     */
    void goOn(Destination begun) {
        destination = begun;
    }

    void uncacheable() {
        destination.uncacheable();
    }

    void refused(BackendResponse answer) {
        destination.refused(answer);
    }
}
