package io.railhead.gateway.frontdoor;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** One of the gateway's own HTTP paths, below {@code /.railhead/}; always signed. */
@FunctionalInterface
public interface InternalEndpoint {
    /** No bucket can have this name: bucket names begin with a letter or digit. */
    String PREFIX = "/.railhead/";

    /** Answers a request that its caller has signed. */
    void handle(HttpExchange httpExchange, Authentication.Signed caller, Query query);

    /**
     * Returns whether a path is below the prefix. Behind a bucket's host name every path is a key.
     */
    static boolean isIn(String rawPath, Address address) {
        return rawPath.startsWith(PREFIX) && PREFIX.equals("/" + address.bucket() + "/");
    }

    /** Returns the endpoint of this name; refuses the request if the table lacks it. */
    static InternalEndpoint require(Map<String, InternalEndpoint> table, String name) {
        InternalEndpoint path = table.get(name);
        if (path == null) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED,
                    "There is nothing at " + PREFIX + name + ".");
        }
        return path;
    }

    static void answer(HttpExchange httpExchange, JsonObject body) {
        httpExchange.answer(200).putHeader("content-type", "application/json");
        httpExchange.end(Buffer.buffer(body.encode()));
    }
}
