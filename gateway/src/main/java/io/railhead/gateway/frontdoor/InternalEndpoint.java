package io.railhead.gateway.frontdoor;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;

/** One of the gateway's own HTTP paths, below {@code /.railhead/}; always signed. */
@FunctionalInterface
public interface InternalEndpoint {
    /** No bucket can have this name: bucket names begin with a letter or digit. */
    String PREFIX = "/.railhead/";

    /** Answers a request that its caller has signed. */
    void handle(HttpExchange httpExchange, Authentication.Signed caller, Query query);

    static void answer(HttpExchange httpExchange, JsonObject body) {
        httpExchange.answer(200).putHeader("content-type", "application/json");
        httpExchange.end(Buffer.buffer(body.encode()));
    }
}
