package io.railhead.gateway.authorization;

import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All actions that one request needs. If stores could read several actions into a request, each is
 * needed. A request with unknown parts is not judged at all, since its effect at a store is
 * unknown.
 */
final class RequestedAccess {
    /** Parameters of objects that do not change the action. */
    private static final Set<String> OBJECT_PARAMETERS = Set.of("versionId", "partNumber", "x-id",
            "acl", "attributes", "legal-hold", "restore", "retention", "select", "select-type",
            "tagging", "torrent", "uploadId", "uploads", "max-parts", "part-number-marker",
            "encoding-type", "append", "position");
    /**
     * Parameters of buckets that do not change the action. {@code metadata} is not among them:
     * MinIO's listing with it tells each object's metadata and tags without checking those
     * permissions ({@code cmd/bucket-listobjects-handlers.go}).
     */
    private static final Set<String> BUCKET_PARAMETERS = Set.of("x-id", "list-type", "prefix",
            "delimiter", "marker", "max-keys", "encoding-type", "start-after", "continuation-token",
            "fetch-owner", "key-marker", "version-id-marker", "upload-id-marker", "max-uploads",
            "allow-unordered", "id", "max-buckets", "bucket-region", "delete",
            "uploads",
            "versions");

    private final RequestHead head;
    private final Address address;
    private final Query query;
    private final boolean anonymous;
    private final List<Access> wanted = new ArrayList<>();
    private final String bucket;
    private final @Nullable String key;
    private boolean judged = true;

    private RequestedAccess(RequestHead head, Address address, Query query, boolean anonymous) {
        this.head = head;
        this.address = address;
        this.query = query;
        this.anonymous = anonymous;
        String named = address.bucket();
        this.bucket = named == null ? "" : named;
        this.key = address.namesObject() ? address.key() : null;
    }

    /**
     * Returns null if the request cannot be judged. The bodies of DeleteObjects and forms name
     * further actions.
     */
    static @Nullable List<Access> of(S3Request request) {
        return of(request.head(), request.address(), request.query(),
                request.authentication() instanceof Authentication.Anonymous);
    }

    /** @param anonymous whether nothing in the head claims an identity */
    static @Nullable List<Access> of(RequestHead head, Address address, Query query,
            boolean anonymous) {
        RequestedAccess access = new RequestedAccess(head, address, query, anonymous);
        if (!head.method().equals("OPTIONS")) {
            access.read();
        }
        return access.judged ? access.wanted : null;
    }

    private void read() {
        Set<String> seen = new HashSet<>();
        judged = query.allNames(name -> seen.add(name) && isKnown(name))
                && !has("x-amz-rename-source") && hasOnePlaceForSource()
                && query.has("uploadId") == query.hasValue("uploadId")
                && !S3Request.hasStoresOwnHeader(head.headers());
        if (!judged) {
            return;
        }
        if (key != null) {
            ofObject();
        } else if (!bucket.isEmpty()) {
            ofBucket();
        } else {
            judged = head.method().equals("GET") || head.method().equals("HEAD");
            want(S3Action.LIST_ALL_MY_BUCKETS);
        }
    }

    /**
     * Returns false for a source that is given twice, or at a place that only some stores read:
     * such a request is not judged.
     */
    private boolean hasOnePlaceForSource() {
        int[] headers = {0};
        head.headers().forEach((name, value) -> {
            headers[0] += name.equalsIgnoreCase("x-amz-copy-source") ? 1 : 0;
        });
        return headers[0] <= 1
                && query.allNames(name -> !name.equalsIgnoreCase("x-amz-copy-source"));
    }

    private boolean isKnown(String name) {
        if (name.toLowerCase(Locale.ROOT).startsWith("x-amz-")) {
            return true;
        }
        return key != null
                ? OBJECT_PARAMETERS.contains(name) || name.startsWith("response-")
                : BUCKET_PARAMETERS.contains(name) || BucketSubresource.isKnown(name);
    }

    private void ofObject() {
        switch (head.method()) {
            case "GET", "HEAD" -> reading();
            case "PUT" -> writing();
            case "POST" -> posting();
            case "DELETE" -> deleting();
            default -> judged = false;
        }
    }

    private void reading() {
        wantIf("acl", S3Action.GET_OBJECT_ACL, S3Action.GET_OBJECT_VERSION_ACL);
        wantIf("tagging", S3Action.GET_OBJECT_TAGGING, S3Action.GET_OBJECT_VERSION_TAGGING);
        wantIf("retention", S3Action.GET_OBJECT_RETENTION);
        wantIf("legal-hold", S3Action.GET_OBJECT_LEGAL_HOLD);
        wantIf("uploadId", S3Action.LIST_MULTIPART_UPLOAD_PARTS);
        boolean other = !wanted.isEmpty();
        wantIf("attributes", S3Action.GET_OBJECT_ATTRIBUTES,
                S3Action.GET_OBJECT_VERSION_ATTRIBUTES);
        wantIf("torrent", S3Action.GET_OBJECT_TORRENT, S3Action.GET_OBJECT_VERSION_TORRENT);
        if (!other || head.method().equals("HEAD")) {
            wantVersioned(S3Action.GET_OBJECT, S3Action.GET_OBJECT_VERSION);
        }
        // MinIO then tells the tags: cmd/api-headers.go.
        if (has("x-amz-tagging-directive")) {
            wantVersioned(S3Action.GET_OBJECT_TAGGING, S3Action.GET_OBJECT_VERSION_TAGGING);
        }
    }

    private void writing() {
        wantIf("acl", S3Action.PUT_OBJECT_ACL, S3Action.PUT_OBJECT_VERSION_ACL);
        wantIf("tagging", S3Action.PUT_OBJECT_TAGGING, S3Action.PUT_OBJECT_VERSION_TAGGING);
        wantIf("retention", S3Action.PUT_OBJECT_RETENTION);
        wantIf("legal-hold", S3Action.PUT_OBJECT_LEGAL_HOLD);
        String source = head.headers().get("x-amz-copy-source");
        // Stores differ in what they look at first.
        if (wanted.isEmpty() || source != null || query.has("uploadId")) {
            want(S3Action.PUT_OBJECT);
        }
        grantingMore();
        if (source != null) {
            List<Access> sources = CopySource.read(source);
            judged = sources != null;
            wanted.addAll(sources == null ? List.of() : sources);
        }
    }

    /** Adds the actions that headers of an upload perform besides storing it. */
    private void grantingMore() {
        if (has("x-amz-acl") || hasGrant()) {
            want(S3Action.PUT_OBJECT_ACL);
        }
        if (has("x-amz-tagging")) {
            want(S3Action.PUT_OBJECT_TAGGING);
        }
        if (has("x-amz-object-lock-mode") || has("x-amz-object-lock-retain-until-date")) {
            want(S3Action.PUT_OBJECT_RETENTION);
        }
        if (has("x-amz-object-lock-legal-hold")) {
            want(S3Action.PUT_OBJECT_LEGAL_HOLD);
        }
        wantBypass();
    }

    private void wantBypass() {
        if (has("x-amz-bypass-governance-retention")) {
            want(S3Action.BYPASS_GOVERNANCE_RETENTION);
        }
    }

    private void posting() {
        wantIf("uploads", S3Action.PUT_OBJECT);
        wantIf("uploadId", S3Action.PUT_OBJECT);
        wantIf("restore", S3Action.RESTORE_OBJECT);
        wantIf("select", S3Action.GET_OBJECT);
        judged = !wanted.isEmpty();
        grantingMore();
    }

    private void deleting() {
        wantIf("uploadId", S3Action.ABORT_MULTIPART_UPLOAD);
        wantIf("tagging", S3Action.DELETE_OBJECT_TAGGING,
                S3Action.DELETE_OBJECT_VERSION_TAGGING);
        if (wanted.isEmpty()) {
            wantVersioned(S3Action.DELETE_OBJECT, S3Action.DELETE_OBJECT_VERSION);
        }
        wantBypass();
    }

    private void ofBucket() {
        switch (head.method()) {
            case "GET", "HEAD" -> ofBucket(BucketSubresource.Verb.GET);
            case "PUT" -> ofBucket(BucketSubresource.Verb.PUT);
            case "DELETE" -> ofBucket(BucketSubresource.Verb.DELETE);
            default -> {
                // A form names its object in its body; one that is signed as a whole nobody reads.
                judged = head.method().equals("POST")
                        && (query.has("delete")
                                || (anonymous && S3Request.isForm(head, address, query)));
                wantBypass();
            }
        }
    }

    private void ofBucket(BucketSubresource.Verb verb) {
        BucketSubresource.wanted(query, verb).forEach(this::want);
        if (verb == BucketSubresource.Verb.GET) {
            wantIf("uploads", S3Action.LIST_BUCKET_MULTIPART_UPLOADS);
            wantIf("versions", S3Action.LIST_BUCKET_VERSIONS);
        }
        if (wanted.isEmpty() || head.method().equals("HEAD")) {
            ofBucketItself(verb);
        }
    }

    private void ofBucketItself(BucketSubresource.Verb verb) {
        switch (verb) {
            case GET -> want(S3Action.LIST_BUCKET);
            case DELETE -> want(S3Action.DELETE_BUCKET);
            case PUT -> {
                want(S3Action.CREATE_BUCKET);
                if (has("x-amz-acl") || hasGrant()) {
                    want(S3Action.PUT_BUCKET_ACL);
                }
                if (has("x-amz-bucket-object-lock-enabled")) {
                    want(S3Action.PUT_BUCKET_OBJECT_LOCK_CONFIGURATION);
                    want(S3Action.PUT_BUCKET_VERSIONING);
                }
            }
        }
    }

    private void wantIf(String parameter, S3Action action) {
        wantIf(parameter, action, action);
    }

    private void wantIf(String parameter, S3Action action, S3Action ofVersion) {
        if (query.has(parameter)) {
            wantVersioned(action, ofVersion);
        }
    }

    /** Adds both actions if a version id is empty: some stores read that as the current version. */
    private void wantVersioned(S3Action action, S3Action ofVersion) {
        if (!query.hasValue("versionId")) {
            want(action);
        }
        if (query.has("versionId")) {
            want(ofVersion);
        }
    }

    private void want(S3Action action) {
        wanted.add(new Access(action, bucket, key, query.getSpaced("prefix"),
                query.getSpaced("delimiter")));
    }

    /** Returns whether a header is given, also as a parameter of a presigned URL. */
    private boolean has(String header) {
        return head.headers().get(header) != null
                || !query.allNames(name -> !name.equalsIgnoreCase(header));
    }

    private boolean hasGrant() {
        boolean[] found = new boolean[1];
        head.headers().forEach((name, value) -> found[0] |= isGrant(name));
        return found[0] || !query.allNames(name -> !isGrant(name));
    }

    private static boolean isGrant(String name) {
        return name.regionMatches(true, 0, "x-amz-grant-", 0, 12);
    }
}
