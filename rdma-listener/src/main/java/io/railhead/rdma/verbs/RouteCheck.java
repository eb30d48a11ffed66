package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvAhAttr;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a connection came by a configured GID. rdma_cm chooses the GID by the peer's
 * destination address and the kernel's default type. It accepts no other choice.
 */
final class RouteCheck {
    private final GidRequest wanted;
    private final GidTable gids;

    /** The current GIDs of this machine. */
    interface GidTable {
        Optional<Gid> find(String device, int port, int index);
    }

    RouteCheck(GidRequest wanted, GidTable gids) {
        this.wanted = wanted;
        this.gids = gids;
    }

    /** Returns the fault and its cure; null if there is none. */
    @Nullable
    String findObjection(String device, IbvAhAttr route) {
        int port = Byte.toUnsignedInt(route.getPort_num());
        if (route.getIs_global() == 0) {
            return wanted.type() == GidType.INFINIBAND
                    ? null
                    : device + " port " + port + " is on InfiniBand; set rdma.gid_type: ib";
        }
        int index = Byte.toUnsignedInt(route.getGrh().getSgid_index());
        Optional<Gid> gid = gids.find(device, port, index);
        if (gid.isPresent() && wanted.accepts(device, port, gid.get())) {
            return null;
        }
        return "rdma_cm chose GID " + index + " of " + device + " port " + port
                + gid.map(used -> ", " + used.address().getHostAddress() + " of type "
                        + used.type().configured()).orElse("")
                + ", and not " + wanted.describe() + "; the kernel's choice is in "
                + "/sys/kernel/config/rdma_cm/" + device + "/ports/" + port
                + "/default_roce_mode, either \"RoCE v2\" or \"IB/RoCE v1\"";
    }
}
