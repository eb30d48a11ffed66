package io.railhead.rdma.dc;

import com.ibm.disni.verbs.IbvSendWR;
import io.railhead.cache.memory.PageSlice;
import io.railhead.os.adapter.SlabKeys;
import io.railhead.os.verbs.AddressHandle;
import io.railhead.os.verbs.DcInitiator;
import io.railhead.os.verbs.ScatterList;
import io.railhead.rdma.OwnedSlice.Direction;
import io.railhead.rdma.poller.SendQueue;

/**
 * Builds an initiator's work requests from slices. Its poller only; allocates nothing.
 *
 * <p> A slice is one request, unless it has more ranges than a scatter list or more bytes than a
 * request. Its last request is signalled, and that completion covers the whole slice.
 */
final class WorkRequestBuilder implements AutoCloseable {
    private static final int STRETCHES = 4096;

    private final SlabKeys slabKeys;
    private final int entriesPerRequest;
    private final ScatterList entries;
    private final long targetKey;
    private final long[] addresses = new long[STRETCHES];
    private final int[] lengths = new int[STRETCHES];

    /** @param targetKey the DC key of all targets */
    WorkRequestBuilder(SlabKeys slabKeys, int entriesPerRequest, long targetKey) {
        this.slabKeys = slabKeys;
        this.entriesPerRequest = entriesPerRequest;
        this.entries = new ScatterList(entriesPerRequest);
        this.targetKey = targetKey;
    }

    /** The route of requests: the initiator, and the target behind the handle. */
    record Route(Initiator initiator, AddressHandle handle, int target, int remoteKey) {
        DcInitiator queuePair() {
            return initiator.queuePair();
        }

        SendQueue sends() {
            return initiator.sends();
        }
    }

    /** Returns the most work requests that a slice may need. */
    int requests(PageSlice slice) {
        int count = slice.stretches(addresses, lengths, 0);
        return (count - 1) / entriesPerRequest + slice.length() / DcInitiator.MAX_BYTES + 2;
    }

    /** Appends a slice's requests, for which there must be room, to the batch under way. */
    void append(Route route, DcWork work) {
        int count = work.slice().slice().stretches(addresses, lengths, 0);
        append(route, work.slice().direction(), addresses, lengths, count, work.remote());
        route.sends().add(work);
    }

    /** Appends ranges of local memory that are adjacent in the peer. */
    void append(Route route, Direction direction, long[] from, int[] bytes, int count,
            long remote) {
        int stretch = 0;
        int done = 0;
        long at = remote;
        while (stretch < count) {
            int moved = 0;
            entries.clear();
            while (stretch < count && entries.size() < entriesPerRequest
                    && moved < DcInitiator.MAX_BYTES) {
                int piece = Math.min(bytes[stretch] - done, DcInitiator.MAX_BYTES - moved);
                long address = from[stretch] + done;
                entries.add(slabKeys.require(address, piece), address, piece);
                moved += piece;
                done += piece;
                if (done == bytes[stretch]) {
                    stretch++;
                    done = 0;
                }
            }
            request(route, direction, stretch == count, at);
            at += moved;
        }
    }

    private void request(Route route, Direction direction, boolean isLast, long remote) {
        SendQueue sends = route.sends();
        long id = route.initiator().requestId(sends.take());
        int flags = 0;
        if (isLast || sends.isSignalDue()) {
            flags = IbvSendWR.IBV_SEND_SIGNALED;
            sends.signalled();
        }
        DcInitiator queuePair = route.queuePair();
        switch (direction) {
            case TO_PEER -> queuePair.write(id, flags, route.remoteKey(), remote);
            case FROM_PEER -> queuePair.read(id, flags, route.remoteKey(), remote);
        }
        queuePair.target(route.handle(), route.target(), targetKey);
        queuePair.entries(entries);
    }

    @Override
    public void close() {
        entries.close();
    }
}
