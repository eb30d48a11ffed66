package io.railhead.gateway.request;

import io.railhead.backend.Backend;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.PercentCodec;
import io.railhead.backend.Target;
import io.railhead.cache.ObjectId;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A verified request: its target, its caller and its route. Immutable. */
public record S3Request(RequestHead head, Address address, Query query,
        Authentication authentication, RequestSource asker, Route route) {
    /**
     * Prefixes of headers that change a request's meaning on some store. Unknown {@code x-amz-}
     * headers are not among them: S3's change no meaning, and many clients send some that only
     * describe themselves.
     */
    private static final List<String> OF_STORES = List.of("x-minio-", "x-rgw-", "x-emc-",
            "x-goog-", "x-ibm-", "x-ntap-", "x-amz-meta-snowball-");

    /** Returns the same request with other headers, without verifying it again. */
    public S3Request withHeaders(Headers headers) {
        return new S3Request(new RequestHead(head.method(), head.rawPath(), head.rawQuery(),
                headers, head.hostField()), address, query, authentication, asker, route);
    }

    public String method() {
        return head.method();
    }

    public Headers headers() {
        return head.headers();
    }

    public @Nullable String header(String name) {
        return head.headers().get(name);
    }

    /** Returns the one requested range; null for the whole object, and for other units. */
    public @Nullable ByteRange range() {
        String header = header("range");
        return header == null ? null : ByteRange.parse(header);
    }

    public boolean namesObject() {
        return address.namesObject();
    }

    /**
     * Returns whether a header gives the request a meaning that only some store knows. MinIO's
     * headers read out of an archive, delete by prefix, or unpack an upload into many objects.
     */
    public boolean hasStoresOwnHeader() {
        return hasStoresOwnHeader(headers());
    }

    public static boolean hasStoresOwnHeader(Headers headers) {
        return headers.anyName(S3Request::isStoresOwn);
    }

    private static boolean isStoresOwn(String header) {
        for (String prefix : OF_STORES) {
            if (header.regionMatches(true, 0, prefix, 0, prefix.length())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether this is an upload by an HTML form, whose signature, if any, is in the body.
     */
    public boolean isForm() {
        return authentication instanceof Authentication.Anonymous && isForm(head, address, query);
    }

    /** Returns whether a head that nothing signs announces an HTML form. */
    public static boolean isForm(RequestHead head, Address address, Query query) {
        String type = head.headers().get("content-type");
        return head.method().equals("POST") && address.bucket() != null && !address.namesObject()
                && !query.has("delete") && type != null
                && type.regionMatches(true, 0, "multipart/form-data", 0, 19);
    }

    /**
     * Returns the target for the store; unchanged if the client's own signature must hold there.
     */
    public Target target() {
        if (isPassedThrough()) {
            String rawQuery = head.rawQuery();
            return new Target(null, PercentCodec.ascii(head.rawPath()).substring(1),
                    rawQuery == null ? null : PercentCodec.ascii(rawQuery));
        }
        return new Target(address.bucket(), address.rawKey(), query.rawWithoutSigning());
    }

    /** Returns whether the store authenticates the caller, and not the gateway. */
    public boolean isPassedThrough() {
        return authentication instanceof Authentication.PassedThrough;
    }

    /**
     * Returns the object and its requested version, which GET, HEAD and fills name at the backend.
     */
    public Target objectTarget() {
        String versionId = query.get("versionId");
        String rawQuery = versionId == null
                ? null
                : "versionId=" + URLEncoder.encode(versionId,
                        StandardCharsets.UTF_8);
        return new Target(address.bucket(), address.rawKey(), rawQuery);
    }

    /**
     * Returns the object's id; only for requests that name an object. A cache-only object's only
     * version is S3's {@code null}.
     */
    public ObjectId objectId() {
        String bucket = address.bucket();
        if (bucket == null) {
            throw new IllegalStateException("the request names no bucket");
        }
        String versionId = query.get("versionId");
        boolean isCurrent = route.rule().isCacheOnly() && "null".equals(versionId);
        return new ObjectId(route.backend().name(), route.namespace(), bucket, address.key(),
                isCurrent ? null : versionId);
    }

    /**
     * Returns the store, whose work is charged to the sender's tenant and to the bucket; for a
     * cache-only object the cache itself, which costs no store anything.
     */
    public Backend store() {
        if (route.rule().isCacheOnly()) {
            return route.backend();
        }
        return route.usage()
                .charging(route.backend(), tenant(), address.bucket(), namesObject());
    }

    /** Returns the tenant of the principal; "" for anonymous. */
    public String tenant() {
        return authentication.tenant();
    }

    public Caller caller() {
        return route.caller();
    }

    /** Returns the principal's name; "" for anonymous. */
    public String principal() {
        return authentication.principalName();
    }
}
