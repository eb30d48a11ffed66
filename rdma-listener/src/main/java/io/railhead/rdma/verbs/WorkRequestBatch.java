package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvSendWR;
import io.railhead.cache.memory.PageSlice;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.SlabKeys;
import io.railhead.os.verbs.PreparedSends;
import io.railhead.rdma.poller.SendQueue;
import io.railhead.rdma.poller.Work;
import org.jspecify.annotations.Nullable;

/**
 * Work requests for one send queue, posted by one call. Each poller has one, used for one
 * connection after another; allocates nothing.
 *
 * <p> Bytes that are adjacent in the peer share a request, up to its limits, also across slices.
 */
final class WorkRequestBatch implements AutoCloseable {
    /** A longer request would delay others: on some adapters the post itself moves bytes. */
    static final int REQUEST_BYTES = 1 << 20;
    /** The approximate limit of one turn; then other connections have theirs. */
    private static final long TURN_BYTES = 4L << 20;
    private static final int STRETCHES = 4096;
    private static final int SIGNALED = 2;
    private static final int INLINE = 8;
    private static final int NOTHING = -1;

    private final SlabKeys slabKeys;
    private final PreparedSends sends;
    private final int entriesPerRequest;
    private final long[] addresses = new long[STRETCHES];
    private final int[] lengths = new int[STRETCHES];
    private @Nullable QueuePairConnection queuePairConnection;
    private long addedBytes;
    /** State of the last request. */
    private int opcode;
    private int flags;
    private int entries;
    private long requestBytes;
    private long nextRemote;
    private int remoteKey;

    WorkRequestBatch(Adapter adapter, QueuePairConfig config) {
        slabKeys = adapter.slabKeys();
        entriesPerRequest = entries(adapter, config);
        sends = adapter.verbs().prepareSends(config.sendDepth(), entriesPerRequest);
    }

    /**
     * Returns the scatter list entries: the configured number, as far as the device supports it.
     */
    static int entries(Adapter adapter, QueuePairConfig config) {
        return Math.min(config.entries(), Math.min(adapter.limits().scatterEntries(),
                adapter.limits().readScatterEntries()));
    }

    void begin(QueuePairConnection target) {
        queuePairConnection = target;
        addedBytes = 0;
        opcode = NOTHING;
        sends.clear();
    }

    /** Returns whether the connection's turn is over. */
    boolean isLong() {
        return addedBytes >= TURN_BYTES;
    }

    private QueuePairConnection link() {
        return requireNonNull(queuePairConnection);
    }

    private int room() {
        return Math.min(sends.capacity() - sends.size(), link().sends().room());
    }

    /**
     * Adds a slice's bytes to or from a range of peer memory, if the queue and the connection's
     * budget have room for all of them. The budget is then taken.
     *
     * @param operation {@code IbvSendWR.IBV_WR_RDMA_WRITE} or {@code IBV_WR_RDMA_READ}
     */
    boolean tryTransfer(int operation, PageSlice slice, long remote, int key) {
        int count = fit(slice);
        if (count == NOTHING || !link().budget().tryTake(slice.length())) {
            return false;
        }
        add(operation, slice, count, remote, key);
        return true;
    }

    /** Adds a slice whose bytes were taken from the budget before. */
    boolean tryAdd(int operation, PageSlice slice, long remote, int key) {
        int count = fit(slice);
        if (count == NOTHING) {
            return false;
        }
        add(operation, slice, count, remote, key);
        return true;
    }

    /**
     * Returns the number of the slice's memory ranges if the queue has room for them, else
     * {@code NOTHING}.
     */
    private int fit(PageSlice slice) {
        int count = slice.stretches(addresses, lengths, 0);
        int most = (count - 1) / entriesPerRequest + slice.length() / REQUEST_BYTES + 2;
        return isLong() || room() < most ? NOTHING : count;
    }

    private void add(int operation, PageSlice slice, int count, long remote, int key) {
        long at = remote;
        for (int i = 0; i < count; i++) {
            stretch(operation, addresses[i], lengths[i], at, key);
            at += lengths[i];
        }
        addedBytes += slice.length();
    }

    private void stretch(int operation, long address, int bytes, long remote, int key) {
        int localKey = slabKeys.require(address, bytes);
        int done = 0;
        while (done < bytes) {
            if (operation != opcode || key != remoteKey || remote + done != nextRemote
                    || entries == entriesPerRequest || requestBytes == REQUEST_BYTES) {
                request(operation, 0);
                remoteKey = key;
                sends.remote(remote + done, key);
            }
            int piece = (int) Math.min(bytes - done, REQUEST_BYTES - requestBytes);
            entry(address + done, piece, localKey);
            done += piece;
            nextRemote = remote + done;
        }
    }

    /** Adds a message if there is room for it. */
    boolean tryMessage(long address, int bytes, int localKey) {
        if (room() == 0) {
            return false;
        }
        request(IbvSendWR.IBV_WR_SEND, bytes <= link().inlineBytes() ? INLINE : 0);
        entry(address, bytes, localKey);
        signal();
        return true;
    }

    /**
     * Adds an immediate value without bytes, if there is room for it.
     *
     * @param remote memory of the peer that the key allows; nothing is written there
     */
    boolean tryImmediate(int value, long remote, int key) {
        if (room() == 0) {
            return false;
        }
        request(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, 0);
        sends.remote(remote, key).immediate(value);
        signal();
        return true;
    }

    private void request(int operation, int requestFlags) {
        SendQueue queue = link().sends();
        long position = queue.take();
        opcode = operation;
        flags = requestFlags;
        entries = 0;
        requestBytes = 0;
        sends.add(link().sendId(position), operation, flags);
        if (queue.isSignalDue()) {
            signal();
        }
    }

    private void entry(long address, int bytes, int localKey) {
        sends.entry(address, bytes, localKey);
        entries++;
        requestBytes += bytes;
    }

    private void signal() {
        flags |= SIGNALED;
        sends.flags(flags);
        link().sends().signalled();
    }

    /** Adds a work whose last request is the latest one. */
    void end(Work work) {
        link().sends().add(work);
    }

    /**
     * Posts the batch with its last request signalled; returns whether there was anything to post.
     */
    boolean post() {
        int size = sends.size();
        if (size == 0) {
            return false;
        }
        signal();
        int accepted = sends.post(link().queuePair());
        if (accepted < size) {
            link().refused(size - accepted, sends.refusal());
        }
        return true;
    }

    @Override
    public void close() {
        sends.close();
    }
}
