package io.railhead.os.verbs;

import java.io.IOException;

/**
 * A send queue that reaches any target: a DCI. One thread at a time; of what is posted, only the
 * polling of its completion queue may go on in another.
 *
 * <p> Posting mirrors {@code ibv_wr_*} and allocates nothing. Between {@link #start} and
 * {@link #complete} or {@link #abort}, which must follow on the same thread whatever happens, the
 * library holds a lock. For each request in between: {@link #write} or {@link #read}, then
 * {@link #target}, then its local memory by {@link #entry} or {@link #entries}.
 *
 * <pre>
 *   RESET ── connect ──▶ RTS ── a request fails ──▶ ERR: that one and all later ones complete so
 *     ▲                   │                          │
 *     └────── reset ──────┴──────────────────────────┘
 * </pre>
 *
 * A reset takes its completions out of the completion queue too: what was posted and not polled
 * before is never reported. Requests complete in order, so a signalled one stands for those before
 * it; a failure is reported whether signalled or not.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/mlx5dv_wr_post.3.html">mlx5dv_wr_post</a>
 */
public interface DcInitiator extends AutoCloseable {
    /** What one work request may move. */
    int MAX_BYTES = 1 << 30;

    /**
     * What it has room for.
     *
     * @param requests posted and not completed, at least
     * @param entries local stretches of a request, at least
     */
    record Capacity(int requests, int entries) {
        public Capacity {
            WorkRequests.requirePositive("requests", requests);
            WorkRequests.requirePositive("entries", entries);
        }
    }

    /**
     * How it sends. Nothing of this is negotiated with targets.
     *
     * @param port from 1
     * @param gidIndex of this side's GID
     * @param isGlobal whether packets carry GIDs: always over Ethernet
     * @param serviceLevel 0 to 15; over Ethernet the priority, 0 to 7
     * @param mtuBytes 256 to 4096; has to be the target's
     * @param ackTimeout 4.096 µs · 2^n, 1 to 31; 0 would wait for ever
     * @param retryCount 0 to 7
     * @param rnrRetry 0 to 7; 7 is for ever
     * @param readDepth reads under way at a time
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

    /** Of its queue pair, as completions name it. */
    int number();

    /** RESET → INIT → RTR → RTS. Where it fails, {@link #reset} before another try. */
    void connect(Path path) throws IOException;

    /**
     * To RESET, from any state. Once it has returned, the adapter touches nothing that was posted,
     * and no completion of it will be polled. Where it fails, only {@link #close} can promise that.
     */
    void reset() throws IOException;

    /** Begins a chain of requests. */
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
     * Whom the request goes to.
     *
     * @param number 24 bits
     */
    void target(AddressHandle handle, int number, long key);

    /**
     * The request's local memory.
     *
     * @throws IllegalArgumentException below 0 or beyond {@link #MAX_BYTES}; {@link #abort} then
     */
    void entry(int lkey, long address, int bytes);

    /**
     * The request's local memory in several stretches.
     *
     * @throws IllegalArgumentException beyond {@link #MAX_BYTES} in all; {@link #abort} then
     */
    void entries(ScatterList list);

    /**
     * Posts the chain.
     *
     * @return 0, or the errno with which nothing of it was posted
     */
    int complete();

    /** Forgets the chain. */
    void abort();

    /**
     * Destroys it, once. When it has returned, the adapter touches nothing that was posted; where
     * it fails, that memory has to be kept for good, and the protection domain and queue too.
     */
    @Override
    void close() throws IOException;
}
