package io.railhead.rdma.poller;

import io.railhead.rdma.poller.SharedBudget.Waker;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The bytes that may be outstanding on one port of a device, and there for each principal that has
 * a session, whichever pollers these are on. Any thread.
 */
public final class PortBudgets {
    private final long perPrincipal;
    private final Waker waker;
    private final SharedBudget port;
    private final Map<String, Principal> principals = new ConcurrentHashMap<>();

    private record Principal(SharedBudget budget, int links) {
        Principal plus(int more) {
            return new Principal(budget, links + more);
        }
    }

    /**
     * @param perPrincipal bytes at a time, within the port's
     */
    public PortBudgets(long perPrincipal, long perPort, Waker waker) {
        this.perPrincipal = perPrincipal;
        this.waker = waker;
        this.port = new SharedBudget(perPort, null, waker);
    }

    /** One link more of the principal, and what bounds its bytes. */
    public SharedBudget enter(String principal) {
        return principals.merge(principal,
                new Principal(new SharedBudget(perPrincipal, port, waker), 1),
                (known, _) -> known.plus(1)).budget();
    }

    /** One link fewer of the principal. */
    public void exit(String principal) {
        principals.computeIfPresent(principal,
                (_, known) -> known.links() == 1 ? null : known.plus(-1));
    }
}
