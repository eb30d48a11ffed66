package io.railhead.gateway.frontdoor;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;

/**
 * A path that a dialect of S3 over RDMA has beside S3's own. The handler decides which principals
 * may use the path.
 */
@FunctionalInterface
public interface DialectPath {

    void handle(HttpExchange httpExchange, RequestHead head, Authentication authentication);
}
