package io.railhead.gateway.channel;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.accounting.Usage;
import io.railhead.gateway.authorization.Access;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.protocol.channel.ObjectNameBytes;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The route of an object's name for one caller: its backend and its rule. Valid until the caller,
 * the rules or the backends change. The channel's own thread only.
 */
final class CachedRoute {
    private final ObjectNameBytes name;
    private final Authentication caller;
    private final RequestSource requestSource;
    private final Access reading;
    private final Address address;
    private final Route route;
    private final ObjectId id;
    private final AuthorizationKey authorizationKey;
    private final boolean hitsPossible;
    private @Nullable Usage usage;
    private @Nullable ObjectMetadata dated;
    private long lastModifiedMillis;

    CachedRoute(ObjectNameBytes name, Identity caller, RequestSource requestSource, Routes routes) {
        this.name = name;
        this.requestSource = requestSource;
        this.reading = AccessControl.reading(name.bucket(), name.key());
        this.caller = new Authentication.Proven(caller.principal(), caller.key());
        this.address = Address.ofObject(name.bucket(), name.key());
        this.route = routes.route(this.caller, address);
        S3Request plain = request("GET", Map.of(), Headers.NONE);
        this.id = plain.objectId();
        this.authorizationKey = ReadRules.grant(plain, id);
        this.hitsPossible = ReadRules.isCacheable(plain) && route.rule().rdma()
                && caller.principal().rdmaGet()
                && !(route.rule().freshness() instanceof Freshness.Strong);
    }

    S3Request request(String method, Map<String, String> query, Headers headers) {
        Query parameters = Query.of(query);
        RequestHead head = new RequestHead(method,
                "/" + address.bucket() + "/" + address.rawKey(), parameters.rawWithoutSigning(),
                headers);
        return new S3Request(head, address, parameters, caller, requestSource, route);
    }

    /** Returns the policy question of a plain GET of the object. */
    Access reading() {
        return reading;
    }

    ObjectNameBytes name() {
        return name;
    }

    ObjectId id() {
        return id;
    }

    AuthorizationKey grant() {
        return authorizationKey;
    }

    Rule rule() {
        return route.rule();
    }

    /** Returns whether a GET may ever be answered from the cache alone. */
    boolean hitsPossible() {
        return hitsPossible && route.backend().capabilities().isCacheable()
                && route.rule().cache() != CacheMode.OFF;
    }

    /** Returns the counters of the caller's tenant in the bucket, for a request that went well. */
    Usage usage() {
        Usage known = usage;
        if (known == null) {
            known = route.usage().of(caller.tenant(), address.bucket());
            usage = known;
        }
        return known;
    }

    /** Returns 0 if the date is unknown; the result is kept for one version of the metadata. */
    @SuppressWarnings("ReferenceEquality")
    long lastModifiedMillis(ObjectMetadata held) {
        if (dated != held) {
            dated = held;
            lastModifiedMillis = AnswerTexts
                    .lastModifiedMillis(held.headers().get("last-modified"));
        }
        return lastModifiedMillis;
    }
}
