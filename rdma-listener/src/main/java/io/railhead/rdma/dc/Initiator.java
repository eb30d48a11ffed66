package io.railhead.rdma.dc;

import io.railhead.os.verbs.DcInitiator;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.poller.SendQueue;
import org.jspecify.annotations.Nullable;

/**
 * A send queue that one request has at a time. Poller only, except that the control thread has the
 * queue pair while it creates, resets or destroys it.
 *
 * <pre>
 *   made ──▶ OPEN ──a request fails or is fenced──▶ BROKEN ──reset, connected──▶ OPEN
 *             │                                       └──cannot be──▶ gone, or KEPT
 *             └──not needed──▶ gone
 * </pre>
 */
final class Initiator {
    private final TenantPool pool;
    private final DcInitiator queuePair;
    private final SendQueue sends;
    private int id;
    private int mtu;
    private QueuePairState state = QueuePairState.OPEN;
    private @Nullable DcTransfer user;

    Initiator(TenantPool pool, DcInitiator queuePair, SendQueue sends) {
        this.pool = pool;
        this.queuePair = queuePair;
        this.sends = sends;
    }

    TenantPool pool() {
        return pool;
    }

    DcInitiator queuePair() {
        return queuePair;
    }

    SendQueue sends() {
        return sends;
    }

    /** Takes a new id after a reset, so that earlier completions are recognised as stale. */
    void connected(int freshId, int withMtu) {
        id = freshId;
        mtu = withMtu;
    }

    int id() {
        return id;
    }

    int mtu() {
        return mtu;
    }

    /** Returns the id that a completion of the request at this position carries. */
    long requestId(long position) {
        return ((long) id << Integer.SIZE) | (position & 0xffff_ffffL);
    }

    static int initiatorOf(long requestId) {
        return (int) (requestId >>> Integer.SIZE);
    }

    static int positionOf(long requestId) {
        return (int) requestId;
    }

    QueuePairState state() {
        return state;
    }

    void state(QueuePairState next) {
        state = next;
    }

    boolean isBroken() {
        return state != QueuePairState.OPEN;
    }

    /** Returns the transfer that has the initiator; null if none has. */
    @Nullable
    DcTransfer user() {
        return user;
    }

    void user(@Nullable DcTransfer next) {
        user = next;
    }
}
