package io.railhead.gateway.object.read;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Probe;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of one object: from the cache if permitted and fresh, otherwise by a HEAD to the
 * store. Requester's executor only.
 */
public final class ObjectHead {
    private final ReadServices services;
    private final ResponseSink responseSink;
    private final S3Request request;
    private final Client client;

    /** The receiver of the result, unless the requester was failed. */
    public interface Client {

        void found(ObjectMetadata metadata, CacheResult result);

        /** Passes on the store's response: a refusal, or metadata that cannot be cached. */
        void passed(int status, Headers headers);
    }

    /** @param request a request that the cache may answer */
    public ObjectHead(ReadServices services, ResponseSink responseSink, S3Request request,
            Client client) {
        this.services = services;
        this.responseSink = responseSink;
        this.request = request;
        this.client = client;
    }

    public void start() {
        ObjectId id = request.objectId();
        AuthorizationKey authorizationKey = ReadRules.grant(request, id);
        ObjectMetadata held = services.cache().find(id);
        if (held != null && ReadRules.tellsAll(held, request)
                && mayServe(held, authorizationKey)) {
            found(held, CacheResult.HIT);
            return;
        }
        if (held == null && !ReadRules.asksAnew(request) && services.absences()
                .isAbsent(authorizationKey, request.route().rule(), NegativeCache.Said.BY_STATUS)) {
            services.metrics().cacheResults.labels("absent").inc();
            responseSink.fail(new S3Refusal(S3Error.NO_SUCH_KEY));
            return;
        }
        new ObjectProbe(services).probe(request, id, authorizationKey)
                .whenComplete((probe, failure) -> responseSink.executor()
                        .execute(() -> answer(failure == null
                                ? probe
                                : new Probe.Unanswered(failure), held, authorizationKey)));
    }

    private boolean mayServe(ObjectMetadata held, AuthorizationKey authorizationKey) {
        AuthorizationKey reader = ObjectHeaders.isGuarded(held)
                ? authorizationKey.toDescribe()
                : authorizationKey;
        return ReadRules.mayDescribe(services, held, request, reader);
    }

    private void answer(Probe probe, @Nullable ObjectMetadata held,
            AuthorizationKey authorizationKey) {
        if (responseSink.isOver()) {
            return;
        }
        switch (probe) {
            case Probe.Found(ObjectMetadata metadata) -> found(metadata, CacheResult.REVALIDATED);
            case Probe.Uncacheable(Headers headers) -> client.passed(200, headers);
            case Probe.Refused(int status, Headers headers) -> client.passed(status, headers);
            case Probe.Failed(int status, Headers headers) -> {
                if (!foundUnasked(held, authorizationKey)) {
                    client.passed(status, headers);
                }
            }
            case Probe.Unanswered(Throwable failure) -> {
                if (!foundUnasked(held, authorizationKey)) {
                    responseSink.fail(StoreErrors.of(failure));
                }
            }
        }
    }

    /** Serves cached metadata after the store gave no response, if the rule allows that. */
    private boolean foundUnasked(@Nullable ObjectMetadata held, AuthorizationKey authorizationKey) {
        if (held == null) {
            return false;
        }
        if (mayServe(held, authorizationKey)) {
            // Only the checksums are missing.
            found(held, CacheResult.HIT);
            return true;
        }
        if (ReadRules.mayServeStale(services, held, request, authorizationKey)) {
            found(held, CacheResult.STALE);
            return true;
        }
        return false;
    }

    private void found(ObjectMetadata metadata, CacheResult result) {
        services.metrics().cacheResults.labels(result.label()).inc();
        services.metrics().usage.read(request.tenant(), request.objectId().bucket(),
                result.isHit(), 0);
        client.found(metadata, result);
    }
}
