package io.railhead.gateway.rdma.session;

import io.railhead.gateway.frontdoor.InternalEndpoint;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /.railhead/endpoints}, signed: returns how this gateway's fabrics are reached, and
 * where the other gateways are that share objects out with it. The response is
 *
 * <pre>
 * {"gateway": {"id": "16 hex digits, new at each start", "name": "rack7"}, "versions": [1],
 *  "fabrics": [
 *   {"fabric": "loopback", "usable": true, "socket": "/path", LIMITS},
 *   {"fabric": "verbs", "usable": false, "reason": "why", "addresses": ["10.99.0.1"], "port": 7471,
 *    "path_mtu": 4096, LIMITS}],
 *  "placement": {"rule": "2", "run": bytes, "members": {"rack7": "http://10.0.0.1:9000", …}}}
 * </pre>
 *
 * where LIMITS are {@code "max_window": bytes, "max_requests": n, "max_message_bytes": n,
 * "max_buffers": n, "keep_alive_millis": n, "version": 1,
 * "max_operation": n}. A gateway that shares nothing out has no {@code placement}.
 */
public final class FabricDirectory implements InternalEndpoint {
    private final String gatewayId;
    private final String gatewayName;
    private final List<FabricAddress> all;
    private final Supplier<JsonObject> placement;

    /** @param placement empty while nothing is shared out; called for each request */
    public FabricDirectory(String gatewayId, String gatewayName, List<FabricAddress> all,
            Supplier<JsonObject> placement) {
        this.gatewayId = gatewayId;
        this.gatewayName = gatewayName;
        this.all = List.copyOf(all);
        this.placement = placement;
    }

    /** Returns the fabric of this name. */
    Optional<FabricAddress> find(@Nullable String fabric) {
        return all.stream()
                .filter(fabricAddress -> fabricAddress.fabric().name().equals(fabric))
                .findFirst();
    }

    List<String> fabrics() {
        return all.stream().map(fabricAddress -> fabricAddress.fabric().name()).toList();
    }

    @Override
    public void handle(HttpExchange httpExchange, Authentication.Signed caller, Query query) {
        if (!httpExchange.request().method().name().equals("GET")) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED, "Endpoints are only read.");
        }
        JsonArray fabrics = new JsonArray();
        all.forEach(fabricAddress -> fabrics.add(fabricAddress.toJson()));
        JsonObject answer = new JsonObject()
                .put("gateway", new JsonObject().put("id", gatewayId).put("name", gatewayName))
                .put("versions", new JsonArray().add(FabricAddress.VERSION))
                .put("fabrics", fabrics);
        JsonObject shared = placement.get();
        InternalEndpoint.answer(httpExchange,
                shared.isEmpty() ? answer : answer.put("placement", shared));
    }
}
