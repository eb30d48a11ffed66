package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.request.ResponseSink;

/**
 * The destination of an object's bytes, which is told every end of the read. Called on the
 * requester's executor; each call but {@link #requester} is a read's last word, unless the read is
 * handed on or begun anew.
 */
public interface Destination {

    ResponseSink requester();

    /** Delivers the planned bytes and answers; what stands in the way is told to the read. */
    void deliver(ObjectRead read, ReadPlan plan, CacheResult expected);

    /** It may not be served from what is held. */
    void uncacheable();

    /** The store refuses it, or would: nobody but the store can say in which words. */
    void refused();

    /** No byte of the range that was asked for exists. */
    void unsatisfiable();

    /** The store's own refusal. */
    void refused(BackendResponse answer);
}
