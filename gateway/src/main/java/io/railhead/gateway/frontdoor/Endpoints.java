package io.railhead.gateway.frontdoor;

import io.railhead.gateway.auth.Authentication;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /.railhead/endpoints}, signed: how this gateway's fabrics are reached. The answer is
 *
 * <pre>
 * {"gateway": {"id": "16 hex digits, new at each start", "name": "rack7"}, "versions": [1],
 *  "fabrics": [
 *   {"fabric": "loopback", "usable": true, "socket": "/path", LIMITS},
 *   {"fabric": "verbs", "usable": false, "reason": "why", "addresses": ["10.99.0.1"], "port": 7471,
 *    "path_mtu": 4096, LIMITS}]}
 * </pre>
 *
 * where LIMITS are {@code "max_window": bytes, "max_requests": n, "max_message_bytes": n,
 * "max_buffers": n, "keep_alive_millis": n, "version": 1}.
 */
public final class Endpoints implements OwnPath {
    private final String gatewayId;
    private final String gatewayName;
    private final List<Endpoint> all;

    public Endpoints(String gatewayId, String gatewayName, List<Endpoint> all) {
        this.gatewayId = gatewayId;
        this.gatewayName = gatewayName;
        this.all = List.copyOf(all);
    }

    /** The one of the fabric with this name. */
    Optional<Endpoint> find(@Nullable String fabric) {
        return all.stream().filter(endpoint -> endpoint.fabric().name().equals(fabric)).findFirst();
    }

    List<String> fabrics() {
        return all.stream().map(endpoint -> endpoint.fabric().name()).toList();
    }

    @Override
    public void handle(Exchange exchange, Authentication.Signed caller, Query query) {
        if (!exchange.request().method().name().equals("GET")) {
            throw new S3Exception(S3Error.METHOD_NOT_ALLOWED, "Endpoints are only read.");
        }
        JsonArray fabrics = new JsonArray();
        all.forEach(endpoint -> fabrics.add(endpoint.toJson()));
        OwnPath.answer(exchange, new JsonObject()
                .put("gateway", new JsonObject().put("id", gatewayId).put("name", gatewayName))
                .put("versions", new JsonArray().add(Endpoint.VERSION))
                .put("fabrics", fabrics));
    }
}
