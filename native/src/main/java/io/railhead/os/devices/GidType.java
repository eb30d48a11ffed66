package io.railhead.os.devices;

import java.util.Arrays;
import java.util.Optional;

/** The type of a GID, which decides the encapsulation of packets: {@code rdma.gid_type}. */
public enum GidType {
    /** In UDP over IP; the GID is an IP address. */
    ROCE_V2("rocev2"),
    /** In Ethernet frames of their own type. */
    ROCE_V1("rocev1"),
    /** On InfiniBand. */
    INFINIBAND("ib");

    private final String configured;

    GidType(String configured) {
        this.configured = configured;
    }

    public static Optional<GidType> ofConfigured(String value) {
        return Arrays.stream(values()).filter(type -> type.configured.equals(value)).findFirst();
    }

    public String configured() {
        return configured;
    }

    /**
     * Returns the type of a sysfs entry: the kernel has one name for GIDs of InfiniBand and RoCE
     * v1.
     */
    static GidType ofSysfs(String value, boolean isInfiniband) {
        if (isInfiniband) {
            return INFINIBAND;
        }
        return value.equals("RoCE v2") ? ROCE_V2 : ROCE_V1;
    }
}
