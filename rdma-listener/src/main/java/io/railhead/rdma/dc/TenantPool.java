package io.railhead.rdma.dc;

import io.railhead.rdma.TransferException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The initiators of one tenant, which no other tenant's request ever uses, and the requests that
 * wait for one, first come, first served. Poller only, where nothing else is said.
 */
final class TenantPool {
    private final String tenant;
    private final int most;
    private final Initiators initiators;
    private final Deque<Initiator> free = new ArrayDeque<>();
    private final Deque<DcTransfer> waiting = new ArrayDeque<>();
    /** Those that are being made included. */
    private int live;
    private int making;
    /** How many wait: written by the poller, read by any thread. */
    private volatile int line;

    TenantPool(String tenant, int most, Initiators initiators) {
        this.tenant = tenant;
        this.most = most;
        this.initiators = initiators;
    }

    String tenant() {
        return tenant;
    }

    /** Whether as many wait as there may be initiators: who comes now is declined. Any thread. */
    boolean isCrowded() {
        return line >= most;
    }

    /** Gives the transfer an initiator, now or when it is its turn. */
    void ask(DcTransfer transfer) {
        waiting.add(transfer);
        serve();
    }

    /** The transfer waits no longer; whether it did. */
    boolean cancel(DcTransfer transfer) {
        boolean waited = waiting.remove(transfer);
        line = waiting.size();
        return waited;
    }

    /** Nobody has it, nothing is posted, and it can take requests. */
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

    /** One that nobody has, to be destroyed in favour of another tenant's. */
    @Nullable
    Initiator takeFree() {
        return free.poll();
    }

    List<Initiator> takeAllFree() {
        List<Initiator> taken = new ArrayList<>(free);
        free.clear();
        return taken;
    }

    /** What was being made is there, or could not be made. */
    void made(boolean isThere) {
        making--;
        if (!isThere) {
            live--;
        }
    }

    /** One is gone. */
    void lost() {
        live--;
    }

    boolean isEmpty() {
        return live == 0;
    }

    /** There is room again. */
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
