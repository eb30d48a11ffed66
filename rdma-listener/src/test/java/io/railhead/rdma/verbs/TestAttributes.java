package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvAhAttr;
import com.ibm.disni.verbs.IbvGlobalRoute;
import com.ibm.disni.verbs.IbvQPCap;
import com.ibm.disni.verbs.IbvQpAttr;

/** A queue pair's attributes without a library. */
final class TestAttributes extends IbvQpAttr {
    TestAttributes(int state) {
        super(new Handle(), new Handle(), new Capacity());
        setQp_state(state);
    }

    /** A route by a GID, or by none. */
    static IbvAhAttr route(boolean isGlobal, int port, int index) {
        IbvAhAttr route = new Handle();
        route.setIs_global((byte) (isGlobal ? 1 : 0));
        route.setPort_num((byte) port);
        route.getGrh().setSgid_index((byte) index);
        return route;
    }

    private static final class Handle extends IbvAhAttr {
        Handle() {
            super(new Route());
        }
    }

    private static final class Route extends IbvGlobalRoute {}

    private static final class Capacity extends IbvQPCap {}
}
