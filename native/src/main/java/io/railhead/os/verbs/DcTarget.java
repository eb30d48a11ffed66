package io.railhead.os.verbs;

import java.io.IOException;

/** A target that initiators reach by number and key: a DCT. Any thread. */
public interface DcTarget extends AutoCloseable {

    /**
     * The attributes of a target.
     *
     * @param key an initiator with this key can reach the memory registered in the protection
     *            domain
     * @param port of the device, from 1
     * @param gidIndex the index of the port's GID for requests
     * @param isGlobal whether packets carry GIDs: always over Ethernet
     * @param hopLimit of its responses
     * @param trafficClass of its responses
     * @param mtuBytes 256 to 4096; must be the initiator's, since nothing is negotiated
     * @param minRnrTimer how long an initiator waits for a receive, 0 to 31, as the header codes it
     */
    record Attributes(long key, int port, int gidIndex, boolean isGlobal, int hopLimit,
            int trafficClass, int pkeyIndex, int mtuBytes, int minRnrTimer) {
        private static final int MAX_BYTE = 0xff;
        private static final int MAX_PKEY_INDEX = 0xffff;
        private static final int MAX_RNR_TIMER = 31;

        public Attributes {
            WorkRequests.requireWithin("port", port, 1, MAX_BYTE);
            WorkRequests.requireWithin("gidIndex", gidIndex, 0, MAX_BYTE);
            WorkRequests.requireWithin("hopLimit", hopLimit, 0, MAX_BYTE);
            WorkRequests.requireWithin("trafficClass", trafficClass, 0, MAX_BYTE);
            WorkRequests.requireWithin("pkeyIndex", pkeyIndex, 0, MAX_PKEY_INDEX);
            WorkRequests.requireMtu(mtuBytes);
            WorkRequests.requireWithin("minRnrTimer", minRnrTimer, 0, MAX_RNR_TIMER);
        }
    }

    /** Returns the number, 24 bits, which a token tells the server. */
    int number();

    /** Destroys the target, once; then no memory is reached through it any more. */
    @Override
    void close() throws IOException;
}
