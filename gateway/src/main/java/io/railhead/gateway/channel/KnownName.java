package io.railhead.gateway.channel;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.auth.Authentication;
import io.railhead.gateway.auth.Identity;
import io.railhead.gateway.auth.RequestHead;
import io.railhead.gateway.authorization.Access;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.authorization.Grant;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.operation.ObjectReads;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.Asker;
import io.railhead.gateway.request.Query;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.rdma.channel.ObjectName;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an object's name means to one caller: where it leads and under which rule. Good for as long
 * as the caller is who it was, and the rules and backends are what they were. Channel's own thread
 * only.
 */
final class KnownName {
    private final ObjectName name;
    private final Authentication caller;
    private final Asker asker;
    private final Access reading;
    private final Address address;
    private final Route route;
    private final ObjectId id;
    private final Grant grant;
    private final boolean hitsPossible;
    private @Nullable ObjectMetadata dated;
    private long lastModifiedMillis;

    KnownName(ObjectName name, Identity caller, Asker asker, Routes routes) {
        this.name = name;
        this.asker = asker;
        this.reading = AccessControl.reading(name.bucket(), name.key());
        this.caller = new Authentication.Proven(caller.principal(), caller.key());
        this.address = Address.ofObject(name.bucket(), name.key());
        this.route = routes.route(this.caller, address);
        S3Request plain = request("GET", Map.of(), Headers.NONE);
        this.id = plain.objectId();
        this.grant = ObjectReads.grant(plain, id);
        this.hitsPossible = ObjectReads.isCacheable(plain) && route.rule().rdma()
                && caller.principal().rdmaGet()
                && !(route.rule().freshness() instanceof Freshness.Strong);
    }

    S3Request request(String method, Map<String, String> query, Headers headers) {
        Query parameters = Query.of(query);
        RequestHead head = new RequestHead(method,
                "/" + address.bucket() + "/" + address.rawKey(), parameters.rawWithoutSigning(),
                headers);
        return new S3Request(head, address, parameters, caller, asker, route);
    }

    /** What a plain GET of it asks the policy. */
    Access reading() {
        return reading;
    }

    ObjectName name() {
        return name;
    }

    ObjectId id() {
        return id;
    }

    Grant grant() {
        return grant;
    }

    Rule rule() {
        return route.rule();
    }

    /** Whether a GET may ever be answered without asking anybody. */
    boolean hitsPossible() {
        return hitsPossible && route.backend().capabilities().isCacheable()
                && route.rule().cache() != CacheMode.OFF;
    }

    /** 0 if it is not known; worked out once for what is held. */
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
