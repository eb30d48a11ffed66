package io.railhead.rdma.dc;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.adapter.SlabKeys;
import io.railhead.os.verbs.AddressHandle;
import io.railhead.os.verbs.DcInitiator;
import io.railhead.os.verbs.ScatterList;
import io.railhead.rdma.OwnedSlice.Direction;
import io.railhead.rdma.poller.SendQueue;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How stretches become work requests: counted, since moving so many bytes would take too long. */
class WorkRequestBuilderTest {
    private static final int ENTRIES = 3;
    private static final long LOCAL = 1L << 40;
    private static final long REMOTE = 7L << 32;

    private final Recording queuePair = new Recording();
    private final SlabKeys keys = new SlabKeys();

    private void append(int... bytes) {
        keys.add(LOCAL, 8L << 30, 77);
        Initiator initiator = nobodys();
        long[] from = new long[bytes.length];
        long at = LOCAL;
        for (int i = 0; i < bytes.length; i++) {
            from[i] = at;
            at += bytes[i] + 4096L;
        }
        try (WorkRequestBuilder workRequestBuilder = new WorkRequestBuilder(keys, ENTRIES, 9)) {
            workRequestBuilder.append(new WorkRequestBuilder.Route(initiator, () -> {}, 5, 6),
                    Direction.TO_PEER, from, bytes, bytes.length, REMOTE);
        }
    }

    /** A poster does not ask whose it is. */
    @SuppressWarnings("NullAway")
    private Initiator nobodys() {
        return new Initiator(null, queuePair, new SendQueue(64, 16));
    }

    @Test
    void aRequestMovesOneGibibyteAtMost() {
        int more = (1 << 30) + (1 << 29);
        append(more, more);
        assertThat(queuePair.requests).containsExactly(
                new Request(REMOTE, 1 << 30, 1, 0),
                new Request(REMOTE + (1L << 30), 1 << 30, 2, 0),
                new Request(REMOTE + (2L << 30), 1 << 30, 1, 2));
    }

    @Test
    void aRequestHasNoMoreStretchesThanItsListHolds() {
        append(10, 20, 30, 40, 50, 60, 70);
        assertThat(queuePair.requests).containsExactly(new Request(REMOTE, 60, 3, 0),
                new Request(REMOTE + 60, 150, 3, 0), new Request(REMOTE + 210, 70, 1, 2));
    }

    @Test
    void oneStretchIsOneSignalledRequest() {
        append(100);
        assertThat(queuePair.requests).containsExactly(new Request(REMOTE, 100, 1, 2));
        assertThat(queuePair.targets).containsExactly("5 9");
    }

    private record Request(long remote, long bytes, int entries, int flags) {}

    private static final class Recording implements DcInitiator {
        final List<Request> requests = new ArrayList<>();
        final List<String> targets = new ArrayList<>();
        private long remote;
        private int flags;

        @Override
        public void write(long requestId, int requestFlags, int rkey, long at) {
            flags = requestFlags;
            remote = at;
        }

        @Override
        public void target(AddressHandle handle, int number, long key) {
            targets.add(number + " " + key);
        }

        @Override
        public void entries(ScatterList list) {
            requests.add(new Request(remote, list.bytes(), list.size(), flags));
        }

        @Override
        public void read(long requestId, int requestFlags, int rkey, long at) {
            throw new AssertionError("nothing is read");
        }

        @Override
        public void entry(int lkey, long address, int bytes) {
            throw new AssertionError("lists only");
        }

        @Override
        public int number() {
            return 1;
        }

        @Override
        public void connect(Path path) {}

        @Override
        public void reset() {}

        @Override
        public void start() {}

        @Override
        public int complete() {
            return 0;
        }

        @Override
        public void abort() {}

        @Override
        public void close() {}
    }
}
