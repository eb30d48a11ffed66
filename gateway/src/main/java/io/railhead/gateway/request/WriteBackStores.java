package io.railhead.gateway.request;

import io.railhead.backend.Backend;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.s3.sigv4.Authentication;

/** Stands before stores that some writes reach later than they are acknowledged. */
@FunctionalInterface
public interface WriteBackStores {

    /**
     * Returns the store as one caller sees it, with what is still pending.
     *
     * @param atDisk whether any rule acknowledges writes to the request's bucket at the disk
     */
    Backend over(Backend store, Authentication authentication, String namespace, Rule rule,
            boolean atDisk);
}
