package io.railhead.gateway.object.writeback;

import java.util.Set;
import java.util.function.Supplier;

/**
 * A request that changes something of a bucket.
 *
 * @param key decoded; "" if it is not about one key
 * @param source the key in the same bucket that it copies, decoded; "" for none
 * @param atDisk whether writes to the bucket may be acknowledged at the gateway's disk
 * @param keys finds all keys that it changes, decoded; "" among them for any. May take some time.
 */
record BucketChange(String key, String source, boolean deletes, boolean atDisk,
        Supplier<Set<String>> keys) {

    BucketChange(String key, String source, boolean deletes, boolean atDisk) {
        this(key, source, deletes, atDisk, () -> Set.of(key));
    }
}
