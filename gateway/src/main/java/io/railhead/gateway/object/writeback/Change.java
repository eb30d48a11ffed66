package io.railhead.gateway.object.writeback;

/**
 * A request that changes something of a bucket.
 *
 * @param key decoded; "" if it is not about one key
 * @param source the key in the same bucket that it copies, decoded; "" for none
 * @param atDisk whether writes to the bucket may be acknowledged at the gateway's disk
 */
record Change(String key, String source, boolean deletes, boolean atDisk) {}
