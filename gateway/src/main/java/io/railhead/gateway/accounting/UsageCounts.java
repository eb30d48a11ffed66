package io.railhead.gateway.accounting;

import io.railhead.gateway.config.Prices;

/**
 * Counts since the start. A read or write is one request of a client that ended well, and would be
 * one request to the store without a gateway.
 *
 * @param nanos from the head to the last byte, of all reads and writes
 * @param hits the reads that needed no byte of the store
 * @param misses the reads that the cache served with bytes of the store
 * @param servedBytes the bytes that clients got
 * @param storeReads the GETs and HEADs that stores were sent, without retries
 * @param storeWrites the PUTs, POSTs and lists
 * @param storeBytes the bytes that came from stores
 */
public record UsageCounts(long reads, long writes, long nanos, long hits, long misses,
        long servedBytes, long storeReads, long storeWrites, long storeBytes) {
    public static final UsageCounts NONE = new UsageCounts(0, 0, 0, 0, 0, 0, 0, 0, 0);

    public UsageCounts plus(UsageCounts other) {
        return new UsageCounts(reads + other.reads, writes + other.writes, nanos + other.nanos,
                hits + other.hits, misses + other.misses, servedBytes + other.servedBytes,
                storeReads + other.storeReads, storeWrites + other.storeWrites,
                storeBytes + other.storeBytes);
    }

    /** Returns the requests that the store did not get; below 0 if it got more. */
    public long avoidedRequests() {
        return reads + writes - storeReads - storeWrites;
    }

    /** Returns the bytes that the store did not have to send; below 0 if it sent more. */
    public long avoidedBytes() {
        return servedBytes - storeBytes;
    }

    /** Returns the price of what the store was asked. */
    public double storeCost(Prices prices) {
        return prices.of(storeReads, storeWrites, storeBytes);
    }

    /** Returns what the same requests would have cost without a gateway, less what they cost. */
    public double saved(Prices prices) {
        return prices.of(reads, writes, servedBytes) - storeCost(prices);
    }

    boolean isNothing() {
        return equals(NONE);
    }
}
