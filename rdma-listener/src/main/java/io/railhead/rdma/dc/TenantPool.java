package io.railhead.rdma.dc;

import io.railhead.rdma.TransferException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The initiators of one tenant, which no other tenant's request ever uses, and the requests that
 * wait for one in order of arrival. Poller only, unless said otherwise.
 */
final class TenantPool {
    private final String tenant;
    private final int most;
    private final Initiators initiators;
    private final Deque<Initiator> free = new ArrayDeque<>();
    private final Deque<DcTransfer> waiting = new ArrayDeque<>();
    /** All initiators, those being created included. */
    private int live;
    private int making;
    /** The number of waiting requests: written by the poller, read by any thread. */
    private volatile int line;

    TenantPool(String tenant, int most, Initiators initiators) {
        this.tenant = tenant;
        this.most = most;
        this.initiators = initiators;
    }

    String tenant() {
        return tenant;
    }

    /**
     * Returns whether as many requests wait as there may be initiators; then further ones are
     * declined. Any thread.
     */
    boolean isCrowded() {
        return line >= most;
    }

    /** Gives the transfer an initiator, now or in its turn. */
    void ask(DcTransfer transfer) {
        waiting.add(transfer);
        serve();
    }

    /** Removes a waiting transfer; false if it was not waiting. */
    boolean cancel(DcTransfer transfer) {
        boolean waited = waiting.remove(transfer);
        line = waiting.size();
        return waited;
    }

    /** Adds an initiator that is idle and usable. */
    void add(Initiator initiator) {
        initiator.user(null);
        free.push(initiator);
        serve();
    }

    private void serve() {
        while (!waiting.isEmpty() && !free.isEmpty()) {
            Initiator next = free.pop();
            if (initiators.isCurrent(next)) {
                waiting.remove().granted(next);
            } else {
                initiators.reset(next);
            }
        }
        line = waiting.size();
        while (making < waiting.size() && live < most && initiators.tryMake(this)) {
            making++;
            live++;
        }
    }

    /**
     * Takes an idle initiator, to be destroyed in favour of another tenant's; null if there is
     * none.
     */
    @Nullable
    Initiator takeFree() {
        return free.poll();
    }

    List<Initiator> takeAllFree() {
        List<Initiator> taken = new ArrayList<>(free);
        free.clear();
        return taken;
    }

    /** Handles the end of a creation, successful or not. */
    void made(boolean isThere) {
        making--;
        if (!isThere) {
            live--;
        }
    }

    /** Counts an initiator that is gone. */
    void lost() {
        live--;
    }

    boolean isEmpty() {
        return live == 0;
    }

    /** Tries to serve waiting requests after room has become free. */
    void tryAgain() {
        serve();
    }

    void failWaiting(TransferException reason) {
        while (!waiting.isEmpty()) {
            waiting.remove().notGranted(reason);
        }
        line = 0;
    }
}
