package io.railhead.rdma.dc;

import io.railhead.os.verbs.DcInitiator;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.poller.SendQueue;
import org.jspecify.annotations.Nullable;

/**
 * A send queue that one request has at a time. Poller only, but its queue pair, which is the
 * control thread's while it is made, reset or destroyed.
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

    /** It was connected anew: completions of before are not its own any more. */
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

    /** What a completion of the request at this position says. */
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

    /** Whose requests it carries; null while nobody has it. */
    @Nullable
    DcTransfer user() {
        return user;
    }

    void user(@Nullable DcTransfer next) {
        user = next;
    }
}
