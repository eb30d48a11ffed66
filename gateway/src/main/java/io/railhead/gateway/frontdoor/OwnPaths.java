package io.railhead.gateway.frontdoor;

import io.railhead.gateway.auth.Authentication;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.Query;

/** The gateway's own HTTP paths, below {@code /.railhead/}; always signed. */
@FunctionalInterface
public interface OwnPaths {
    /** No bucket can be named so: bucket names begin with a letter or digit. */
    String PREFIX = "/.railhead/";

    /**
     * Answers a request that its caller has signed.
     *
     * @param path what follows the prefix
     */
    void handle(Exchange exchange, Authentication.Signed caller, String path, Query query);
}
