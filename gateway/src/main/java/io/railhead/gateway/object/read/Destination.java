package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.request.ResponseSink;

/**
 * The destination of an object's bytes, which handles every possible end of the read. Called on the
 * requester's executor. Each call but {@link #requester} is a read's last one, unless the read
 * restarts or is redirected.
 */
public interface Destination {

    ResponseSink requester();

    /** Delivers the planned bytes and answers; failures are reported to the read. */
    void deliver(ObjectRead read, ReadPlan plan, CacheResult expected);

    /** Answers a request that must not be served from the cache. */
    void uncacheable();

    /** Answers for a refusal whose text only the store can give. */
    void refused();

    /** Answers a range of which no byte exists. */
    void unsatisfiable();

    /** Answers with the store's own refusal. */
    void refused(BackendResponse answer);
}
