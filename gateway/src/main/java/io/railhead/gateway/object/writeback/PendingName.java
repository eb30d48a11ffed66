package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.PercentCodec;
import io.railhead.backend.Target;

/**
 * The name of an object at a store. It is the same for every account.
 *
 * @param backend the store's name in the configuration
 * @param rawKey as the client wrote it, percent-encoded
 * @param key decoded
 */
record PendingName(String backend, String bucket, String rawKey, String key) {

    static PendingName of(String backend, BackendRequest request) {
        Target target = request.target();
        return of(backend, String.valueOf(target.bucket()), target.rawKey());
    }

    static PendingName of(String backend, String bucket, String rawKey) {
        return new PendingName(backend, bucket, rawKey, PercentCodec.decodeName(rawKey));
    }

    Bucket inBucket() {
        return new Bucket(backend, bucket);
    }

    Target target(String rawQuery) {
        return new Target(bucket, rawKey, rawQuery.isEmpty() ? null : rawQuery);
    }

    /** A bucket at a store. */
    record Bucket(String backend, String name) {}

    /** The object's identity: two spellings of a key are one object. */
    record Identity(Bucket bucket, String key) {}

    Identity identity() {
        return new Identity(inBucket(), key);
    }
}
