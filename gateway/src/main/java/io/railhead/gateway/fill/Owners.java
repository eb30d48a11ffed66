package io.railhead.gateway.fill;

import io.railhead.backend.FetchTurn;
import io.railhead.cache.PageSource;
import io.railhead.gateway.request.S3Request;

/** The gateways that own parts of objects, as sources of fills. Any thread; no call blocks. */
public interface Owners {
    /** A gateway that shares nothing out. */
    Owners NONE = new Owners() {
        @Override
        public PageSource before(PageSource store, S3Request request, FetchTurn turn) {
            return store;
        }

        @Override
        public boolean isElsewhere(S3Request request, long offset) {
            return false;
        }
    };

    /**
     * Returns a source that asks a run's owner first, and the store for what that does not give.
     * The request has proved that its principal may read the version.
     */
    PageSource before(PageSource store, S3Request request, FetchTurn turn);

    /** Returns whether another gateway owns the run at that offset of the request's object. */
    boolean isElsewhere(S3Request request, long offset);
}
