package io.railhead.rdma.poller;

import io.railhead.rdma.poller.SharedBudget.Waker;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The bytes that may be outstanding on one port of a device, in all and for each principal that has
 * a session, over all pollers. Any thread.
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

    /** @param perPrincipal the most bytes of a principal, within the port's */
    public PortBudgets(long perPrincipal, long perPort, Waker waker) {
        this.perPrincipal = perPrincipal;
        this.waker = waker;
        this.port = new SharedBudget(perPort, null, waker);
    }

    /** Counts one more connection of the principal, and returns its byte budget. */
    public SharedBudget enter(String principal) {
        return principals.merge(principal,
                new Principal(new SharedBudget(perPrincipal, port, waker), 1),
                (known, _) -> known.plus(1)).budget();
    }

    /** Counts one connection of the principal less. */
    public void exit(String principal) {
        principals.computeIfPresent(principal,
                (_, known) -> known.links() == 1 ? null : known.plus(-1));
    }
}
