package io.railhead.gateway.object.read;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ReadAhead;
import io.railhead.gateway.authorization.AuthorizationKey;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Decides which reads the cache may serve, and under whose identity. */
public final class ReadRules {
    /**
     * Headers whose meaning only the backend can judge, or whose responses must not be shared. The
     * response to an Origin header depends on the bucket's CORS rules, which only the backend has.
     */
    private static final List<String> ONLY_BACKEND = List.of("origin", "if-none-match",
            "if-modified-since",
            "if-unmodified-since", "if-range", "x-amz-server-side-encryption-customer-algorithm",
            "x-amz-server-side-encryption-customer-key",
            "x-amz-server-side-encryption-customer-key-md5",
            "x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id",
            "x-amz-server-side-encryption-context",
            "x-amz-server-side-encryption-bucket-key-enabled",
            "x-amz-expected-bucket-owner", "x-amz-request-payer");

    private static final Set<String> ASKING_ANEW = Set.of("no-cache", "max-age=0");

    private ReadRules() {}

    public static boolean isCacheable(S3Request request) {
        boolean plain = request.query()
                .allNames(name -> name.equals("versionId") || name.equals("x-id")
                        || AnswerHead.isOverride(name));
        // Some stores read an empty version id as the current version; a write would not invalidate
        // that.
        boolean named = !request.query().has("versionId") || request.query().hasValue("versionId");
        boolean judged = isJudgedHere(request.headers());
        boolean oneRange = request.header("range") == null || request.range() != null;
        return plain && named && judged && oneRange
                && request.route().rule().cache() != CacheMode.OFF
                && request.route().backend().capabilities().isCacheable()
                && !(request.authentication() instanceof Authentication.Anonymous
                        && hasOverride(request))
                && (request.method().equals("PUT")
                        || !request.hasStoresOwnHeader());
    }

    /** Checks headers one by one: every read passes here, so nothing is allocated. */
    private static boolean isJudgedHere(Headers headers) {
        for (String name : ONLY_BACKEND) {
            if (headers.contains(name)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether the request overrides response headers. S3 allows that in signed requests
     * only, and its own error says so best.
     */
    static boolean hasOverride(S3Request request) {
        return !request.query().allNames(name -> !AnswerHead.isOverride(name));
    }

    /**
     * Returns whether the client demands revalidation (RFC 9111 §5.2.1). Other directives are
     * ignored, as S3 ignores them. A cache-only object cannot be asked for anew.
     */
    static boolean asksAnew(S3Request request) {
        if (!request.headers().contains("cache-control")
                || request.route().rule().isCacheOnly()) {
            return false;
        }
        boolean[] anew = {false};
        request.headers().forEach((name, value) -> {
            if (name.equalsIgnoreCase("cache-control")) {
                for (String directive : value.split(",", -1)) {
                    anew[0] |= ASKING_ANEW.contains(directive.strip().toLowerCase(Locale.ROOT));
                }
            }
        });
        return anew[0];
    }

    /**
     * Decides whether a GET is served without asking the store. An object that came by a ranged GET
     * lacks its checksums: a client that wants checksums waits for a HEAD.
     */
    static boolean mayServe(ReadServices services, ObjectMetadata held, S3Request request,
            AuthorizationKey reader) {
        return tellsAll(held, request) && mayDescribe(services, held, request, reader);
    }

    /** Returns whether the metadata has all that the client wants, its checksums among it. */
    static boolean tellsAll(ObjectMetadata held, S3Request request) {
        return ObjectHeaders.isComplete(held) || !AnswerHead.wantsChecksums(request);
    }

    /** Decides the same for a client to which the checksums do not matter. */
    static boolean mayDescribe(ReadServices services, ObjectMetadata held, S3Request request,
            AuthorizationKey reader) {
        return !asksAnew(request)
                && services.servability().allows(reader, request.route().rule(), held);
    }

    /** Decides whether a cached object is served while the store is away, and counts it. */
    static boolean mayServeStale(ReadServices services, ObjectMetadata held, S3Request request,
            AuthorizationKey reader) {
        Rule rule = request.route().rule();
        boolean may = !asksAnew(request) && services.servability().allowsStale(reader, rule, held);
        if (may) {
            services.metrics().staleServed.labels(rule.backend()).inc();
        }
        return may;
    }

    /** Returns the sequential reader that the request belongs to. */
    static ReadAhead.Reader reader(S3Request request) {
        return request.authentication() instanceof Authentication.Known known
                ? new ReadAhead.Reader(known.principal().name(), known.principal().tenant())
                : new ReadAhead.Reader("", "");
    }

    /** Returns the tenant that pages are fetched for. */
    public static String tenant(S3Request request) {
        return request.authentication() instanceof Authentication.Known known
                ? known.principal().tenant()
                : "";
    }

    public static AuthorizationKey grant(S3Request request, ObjectId id) {
        return switch (request.authentication()) {
            case Authentication.PassedThrough _ ->
                throw new IllegalStateException("the store is asked each time");
            case Authentication.Anonymous _ ->
                new AuthorizationKey("", "", "", AuthorizationKey.Action.READ, id);
            case Authentication.Known known -> grant(known.principal(), known.key(), id);
        };
    }

    private static AuthorizationKey grant(Principal principal, AccessKey key, ObjectId id) {
        return new AuthorizationKey(principal.name(), key.grantee(), key.granteeToken(),
                AuthorizationKey.Action.READ, id);
    }
}
