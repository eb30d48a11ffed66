package io.railhead.cache;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * An object's identity: the tenant's namespace, the bucket and the key.
 *
 * @param namespace the backend credential's account, or "" for a bucket declared shared, so that
 *            tenants with equal bucket names never meet
 * @param key the object key, percent-decoded
 * @param versionId the version asked for, or null for the current one
 */
public record ObjectId(String backend, String namespace, String bucket, String key,
        @Nullable String versionId) {

    public ObjectId {
        requireNonNull(backend, "backend is null");
        requireNonNull(namespace, "namespace is null");
        requireNonNull(bucket, "bucket is null");
        requireNonNull(key, "key is null");
    }

    /** The same key whatever version was asked for: what writes and generations go by. */
    public ObjectId current() {
        return versionId == null ? this : new ObjectId(backend, namespace, bucket, key, null);
    }

    /** The same name as another account has it. */
    ObjectId in(String otherNamespace) {
        return new ObjectId(backend, otherNamespace, bucket, key, versionId);
    }
}
