package io.railhead.rdma.verbs;

import io.railhead.rdma.verbs.SharedBudget.Waker;
import io.railhead.rdma.verbs.VerbsFabricConfig.OutstandingBytes;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The bytes that may be outstanding on one port of a device, and there for each principal that has
 * a session, whichever pollers these are on. Any thread.
 */
final class PortBudgets {
    private final OutstandingBytes limits;
    private final Waker waker;
    private final SharedBudget port;
    private final Map<String, Principal> principals = new ConcurrentHashMap<>();

    private record Principal(SharedBudget budget, int links) {
        Principal plus(int more) {
            return new Principal(budget, links + more);
        }
    }

    PortBudgets(OutstandingBytes limits, Waker waker) {
        this.limits = limits;
        this.waker = waker;
        this.port = new SharedBudget(limits.perPort(), null, waker);
    }

    /** One link more of the principal, and what bounds its bytes. */
    SharedBudget enter(String principal) {
        return principals.merge(principal,
                new Principal(new SharedBudget(limits.perPrincipal(), port, waker), 1),
                (known, _) -> known.plus(1)).budget();
    }

    /** One link fewer of the principal. */
    void exit(String principal) {
        principals.computeIfPresent(principal,
                (_, known) -> known.links() == 1 ? null : known.plus(-1));
    }
}
