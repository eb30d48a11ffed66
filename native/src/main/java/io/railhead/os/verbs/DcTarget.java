package io.railhead.os.verbs;

import java.io.IOException;

/** Something that initiators reach by number and key: a DCT. Any thread. */
public interface DcTarget extends AutoCloseable {

    /**
     * @param key whoever names it may reach what is registered in the protection domain
     * @param port from 1
     * @param gidIndex of the port's GID that requests come to
     * @param isGlobal whether packets carry GIDs: always over Ethernet
     * @param hopLimit of what it answers
     * @param trafficClass of what it answers
     * @param mtuBytes 256 to 4096; nothing is negotiated, it must be the initiator's
     * @param minRnrTimer how long an initiator waits for a receive, 0 to 31, as coded by the header
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

    /** 24 bits; what a token tells its server. */
    int number();

    /** Destroys it, once; then nothing reaches memory through it any more. */
    @Override
    void close() throws IOException;
}
