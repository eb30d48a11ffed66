package io.railhead.gateway.frontdoor;

import io.railhead.gateway.auth.Authentication;
import io.railhead.gateway.auth.RequestHead;
import io.railhead.gateway.http.HttpExchange;

/** A path that a dialect of S3-over-RDMA has beside S3's own; its handler judges who may ask. */
@FunctionalInterface
public interface DialectPath {

    void handle(HttpExchange httpExchange, RequestHead head, Authentication authentication);
}
