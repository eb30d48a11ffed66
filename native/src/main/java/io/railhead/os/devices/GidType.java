package io.railhead.os.devices;

import java.util.Arrays;
import java.util.Optional;

/** The type of a GID, which decides how its packets travel: {@code rdma.gid_type}. */
public enum GidType {
    /** Over UDP and IP; the GID is an IP address. */
    ROCE_V2("rocev2"),
    /** Over Ethernet frames of their own. */
    ROCE_V1("rocev1"),
    /** Over InfiniBand. */
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

    /** The kernel calls a GID of InfiniBand and one of RoCE v1 the same. */
    static GidType ofSysfs(String value, boolean isInfiniband) {
        if (isInfiniband) {
            return INFINIBAND;
        }
        return value.equals("RoCE v2") ? ROCE_V2 : ROCE_V1;
    }
}
