package io.railhead.gateway.request;

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

/** A verified request: what is asked, who asks, where it goes. Immutable. */
public record S3Request(RequestHead head, Address address, Query query,
        Authentication authentication, RequestSource asker, Route route) {
    /**
     * S3 itself gives requests no other meaning by such a header, and its clients send many that
     * only tell of themselves.
     */
    private static final List<String> OF_STORES = List.of("x-minio-", "x-rgw-", "x-emc-",
            "x-goog-", "x-ibm-", "x-ntap-", "x-amz-meta-snowball-");

    /** The same request with other headers: nothing that was verified is verified again. */
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

    /** The one range that is asked for; null for the whole object, and for other units. */
    public @Nullable ByteRange range() {
        String header = header("range");
        return header == null ? null : ByteRange.parse(header);
    }

    public boolean namesObject() {
        return address.namesObject();
    }

    /**
     * Whether a header gives it a meaning that only some store knows: MinIO's reads out of an
     * archive, deletes whatever begins with a key, or unpacks what is uploaded into many.
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

    /** Whether it uploads by an HTML form, and what signs it, if anything does, is in its body. */
    public boolean isForm() {
        return authentication instanceof Authentication.Anonymous && isForm(head, address, query);
    }

    /** Whether a head that nothing signs announces an HTML form. */
    public static boolean isForm(RequestHead head, Address address, Query query) {
        String type = head.headers().get("content-type");
        return head.method().equals("POST") && address.bucket() != null && !address.namesObject()
                && !query.has("delete") && type != null
                && type.regionMatches(true, 0, "multipart/form-data", 0, 19);
    }

    /** What is asked of the store; as it came where the client's own signature must hold. */
    public Target target() {
        if (isPassedThrough()) {
            String rawQuery = head.rawQuery();
            return new Target(null, PercentCodec.ascii(head.rawPath()).substring(1),
                    rawQuery == null ? null : PercentCodec.ascii(rawQuery));
        }
        return new Target(address.bucket(), address.rawKey(), query.rawWithoutSigning());
    }

    /** Whether the store, and not the gateway, knows who asks. */
    public boolean isPassedThrough() {
        return authentication instanceof Authentication.PassedThrough;
    }

    /**
     * The object alone, with the version asked for: what GET, HEAD and fills name at the backend.
     */
    public Target objectTarget() {
        String versionId = query.get("versionId");
        String rawQuery = versionId == null
                ? null
                : "versionId=" + URLEncoder.encode(versionId,
                        StandardCharsets.UTF_8);
        return new Target(address.bucket(), address.rawKey(), rawQuery);
    }

    /** Only for requests that name an object. */
    public ObjectId objectId() {
        String bucket = address.bucket();
        if (bucket == null) {
            throw new IllegalStateException("the request names no bucket");
        }
        return new ObjectId(route.backend().name(), route.namespace(), bucket, address.key(),
                query.get("versionId"));
    }

    public Caller caller() {
        return route.caller();
    }

    /** "" for anonymous. */
    public String principal() {
        return authentication.principalName();
    }
}
