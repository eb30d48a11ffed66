package io.railhead.gateway.object.read;

import io.railhead.backend.FetchTurn;
import io.railhead.cache.ObjectId;
import io.railhead.cache.PageSource;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadAhead;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.fill.BackendPageSource;
import io.railhead.gateway.fill.NotedSource;
import io.railhead.gateway.fill.StoredChecksum;
import io.railhead.gateway.fill.VerifiedSource;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;

/** The unchanging values of one GET. */
record ReadContext(ReadServices services, ResponseSink requester, S3Request request, ObjectId id,
        AuthorizationKey grant,
        NotedSource source) {

    static ReadContext of(ReadServices services, ResponseSink responseSink, S3Request request) {
        ObjectId id = request.objectId();
        return new ReadContext(services, responseSink, request, id, ReadRules.grant(request, id),
                source(services, request, FetchTurn.wanted(ReadRules.tenant(request))));
    }

    private static NotedSource source(ReadServices services, S3Request request, FetchTurn turn) {
        PageSource store = new BackendPageSource(request.store(), request.caller(),
                request.objectTarget(), turn);
        return new NotedSource(services.owners().before(store, request, turn));
    }

    private PageSource verified(PageSource unverified, ReadPlan plan) {
        StoredChecksum whole = rule().verifyFills() ? StoredChecksum.of(plan.metadata()) : null;
        return whole == null ? unverified : new VerifiedSource(unverified, whole);
    }

    Rule rule() {
        return request.route().rule();
    }

    RangeReader reader(ReadPlan plan, Pool fallback, RangeReader.Sink sink) {
        ReadRequest read = new ReadRequest(plan.metadata().version(), plan.from(), plan.to(),
                fallback, ReadRules.tenant(request));
        return services.cache()
                .read(read, verified(source, plan), requester.executor(), sink);
    }

    /** Starts read-ahead behind this request, after the request's own fills have begun. */
    void readAhead(ReadPlan plan) {
        if (plan.length() < plan.sizeBytes()) {
            ReadAhead.Reader reader = ReadRules.reader(request);
            requester.executor()
                    .execute(() -> services.cache()
                            .readAhead()
                            .read(plan.metadata().version(), plan.from(), plan.to(),
                                    reader, verified(source(services, request,
                                            FetchTurn.ahead(reader.tenant())), plan)));
        }
    }

    /** Returns the final cache result: a fill may have been needed after all. */
    CacheResult settled(CacheResult expected) {
        return source.hasFetched() && expected != CacheResult.STALE ? CacheResult.MISS : expected;
    }

    void count(ReadPlan plan, CacheResult result, String transport) {
        services.metrics().cacheResults.labels(result.label()).inc();
        services.metrics().delivered(id.bucket(), result.label(), transport, plan.length());
        services.metrics().usage.read(request.tenant(), id.bucket(), result.isHit(),
                plan.length());
    }
}
