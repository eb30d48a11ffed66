package io.railhead.cache;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * An object's identity: the tenant's namespace, the bucket and the key.
 *
 * @param namespace the backend credential's account, or "" for a bucket declared shared, so that
 *            tenants with equal bucket names never meet
 * @param key the object key, percent-decoded
 * @param versionId the requested version; null for the current one
 */
public record ObjectId(String backend, String namespace, String bucket, String key,
        @Nullable String versionId) {

    public ObjectId {
        requireNonNull(backend, "backend is null");
        requireNonNull(namespace, "namespace is null");
        requireNonNull(bucket, "bucket is null");
        requireNonNull(key, "key is null");
    }

    /** Returns the same key without a version, which writes and write epochs refer to. */
    public ObjectId current() {
        return versionId == null ? this : new ObjectId(backend, namespace, bucket, key, null);
    }

    /** Returns the same name under another account. */
    ObjectId in(String otherNamespace) {
        return new ObjectId(backend, otherNamespace, bucket, key, versionId);
    }
}
