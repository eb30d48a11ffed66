package io.railhead.gateway.frontdoor;

import io.railhead.gateway.auth.RequestHead;
import io.railhead.gateway.http.HttpExchange;

/** One of the gateway's own HTTP paths whose callers cannot sign; it sees to who they are. */
@FunctionalInterface
public interface UnsignedPath {

    void handle(HttpExchange httpExchange, RequestHead head);
}
