package io.railhead.os.verbs;

/**
 * The address of a port and the route to it: struct ibv_ah_attr. Equal vectors are one route, so
 * this may be a map key.
 *
 * @param port of this side's device, from 1
 * @param gidIndex the index of this side's GID, which must have the same type as the other side's
 * @param gidHigh the first eight bytes of the other side's GID, as a big-endian number
 * @param gidLow the last eight
 * @param lid of the other side; 0 over Ethernet
 * @param isGlobal whether packets carry GIDs: always over Ethernet
 * @param hopLimit the most routers on the way, plus one
 * @param trafficClass its upper six bits are the DSCP
 * @param serviceLevel 0 to 15; over Ethernet the priority, 0 to 7
 * @param flowLabel 20 bits
 */
public record AddressVector(int port, int gidIndex, long gidHigh, long gidLow, int lid,
        boolean isGlobal, int hopLimit, int trafficClass, int serviceLevel, int flowLabel) {
    private static final int MAX_BYTE = 0xff;
    private static final int MAX_LID = 0xffff;
    private static final int MAX_SERVICE_LEVEL = 15;
    private static final int MAX_FLOW_LABEL = (1 << 20) - 1;

    public AddressVector {
        WorkRequests.requireWithin("port", port, 1, MAX_BYTE);
        WorkRequests.requireWithin("gidIndex", gidIndex, 0, MAX_BYTE);
        WorkRequests.requireWithin("lid", lid, 0, MAX_LID);
        WorkRequests.requireWithin("hopLimit", hopLimit, 0, MAX_BYTE);
        WorkRequests.requireWithin("trafficClass", trafficClass, 0, MAX_BYTE);
        WorkRequests.requireWithin("serviceLevel", serviceLevel, 0, MAX_SERVICE_LEVEL);
        WorkRequests.requireWithin("flowLabel", flowLabel, 0, MAX_FLOW_LABEL);
    }
}
