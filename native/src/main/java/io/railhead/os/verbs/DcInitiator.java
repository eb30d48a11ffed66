package io.railhead.os.verbs;

import java.io.IOException;

/**
 * A send queue that reaches any target: a DCI. One thread at a time; only its completion queue may
 * be polled by another thread.
 *
 * <p> Posting mirrors {@code ibv_wr_*} and allocates nothing. The library holds a lock from
 * {@link #start} until {@link #complete} or {@link #abort}, one of which must follow on the same
 * thread. For each request in between: {@link #write} or {@link #read}, then {@link #target}, then
 * its local memory by {@link #entry} or {@link #entries}.
 *
 * <pre>
 *   RESET ── connect ──▶ RTS ── a request fails ──▶ ERR: that one and all later ones complete so
 *     ▲                   │                          │
 *     └────── reset ──────┴──────────────────────────┘
 * </pre>
 *
 * A reset also removes its completions from the completion queue: requests that were not polled
 * before are never reported. Requests complete in order, so a signalled one covers those before it;
 * a failure is reported whether signalled or not.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/mlx5dv_wr_post.3.html">mlx5dv_wr_post</a>
 */
public interface DcInitiator extends AutoCloseable {
    /** The most bytes of one work request. */
    int MAX_BYTES = 1 << 30;

    /**
     * The capacity of an initiator.
     *
     * @param requests the least number of outstanding requests
     * @param entries the least number of local ranges of a request
     */
    record Capacity(int requests, int entries) {
        public Capacity {
            WorkRequests.requirePositive("requests", requests);
            WorkRequests.requirePositive("entries", entries);
        }
    }

    /**
     * The attributes of its packets. Nothing of this is negotiated with targets.
     *
     * @param port of the device, from 1
     * @param gidIndex the index of this side's GID
     * @param isGlobal whether packets carry GIDs: always over Ethernet
     * @param serviceLevel 0 to 15; over Ethernet the priority, 0 to 7
     * @param mtuBytes 256 to 4096; must be the target's
     * @param ackTimeout 4.096 µs · 2^n, 1 to 31; 0 would wait for ever
     * @param retryCount 0 to 7
     * @param rnrRetry 0 to 7; 7 is for ever
     * @param readDepth the most outstanding READs
     */
    record Path(int port, int gidIndex, boolean isGlobal, int serviceLevel, int pkeyIndex,
            int mtuBytes, int ackTimeout, int retryCount, int rnrRetry, int readDepth) {
        private static final int MAX_BYTE = 0xff;
        private static final int MAX_SERVICE_LEVEL = 15;
        private static final int MAX_PKEY_INDEX = 0xffff;
        private static final int MAX_TIMEOUT = 31;
        private static final int MAX_RETRIES = 7;

        public Path {
            WorkRequests.requireWithin("port", port, 1, MAX_BYTE);
            WorkRequests.requireWithin("gidIndex", gidIndex, 0, MAX_BYTE);
            WorkRequests.requireWithin("serviceLevel", serviceLevel, 0, MAX_SERVICE_LEVEL);
            WorkRequests.requireWithin("pkeyIndex", pkeyIndex, 0, MAX_PKEY_INDEX);
            WorkRequests.requireMtu(mtuBytes);
            WorkRequests.requireWithin("ackTimeout", ackTimeout, 1, MAX_TIMEOUT);
            WorkRequests.requireWithin("retryCount", retryCount, 0, MAX_RETRIES);
            WorkRequests.requireWithin("rnrRetry", rnrRetry, 0, MAX_RETRIES);
            WorkRequests.requireWithin("readDepth", readDepth, 0, MAX_BYTE);
        }
    }

    /** Returns the queue pair's number in completions. */
    int number();

    /** Moves RESET → INIT → RTR → RTS. After a failure, {@link #reset} before another try. */
    void connect(Path path) throws IOException;

    /**
     * Moves to RESET from any state. After the return the adapter touches no posted memory, and no
     * completion of it will be polled. After a failure, only {@link #close} can ensure that.
     */
    void reset() throws IOException;

    /** Begins a batch of requests. */
    void start();

    /**
     * Appends a write into a target's memory.
     *
     * @param flags {@code IbvSendWR.IBV_SEND_*}; without SIGNALED a success reports nothing
     */
    void write(long requestId, int flags, int rkey, long remote);

    /** Appends a read from a target's memory. */
    void read(long requestId, int flags, int rkey, long remote);

    /**
     * Sets the request's target.
     *
     * @param number the target's number, 24 bits
     */
    void target(AddressHandle handle, int number, long key);

    /**
     * Sets the request's local memory.
     *
     * @throws IllegalArgumentException below 0 or above {@link #MAX_BYTES}; {@link #abort} then
     */
    void entry(int lkey, long address, int bytes);

    /**
     * Sets the request's local memory as several ranges.
     *
     * @throws IllegalArgumentException above {@link #MAX_BYTES} in all; {@link #abort} then
     */
    void entries(ScatterList list);

    /**
     * Posts the batch.
     *
     * @return 0, or the errno with which nothing was posted
     */
    int complete();

    /** Discards the batch. */
    void abort();

    /**
     * Destroys the initiator, once. After the return the adapter touches no posted memory. After a
     * failure that memory, the protection domain and the queue must be kept for good.
     */
    @Override
    void close() throws IOException;
}
