package io.railhead.rdma.poller;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * The accounting of one send queue: what was posted, in order, and what the adapter has let go of.
 * Its poller only; allocates nothing.
 *
 * <pre>
 *   position:   0 ........ retired ........ posted ........ retired + depth
 *               |  let go  |  the adapter's  |     room      |
 * </pre>
 *
 * A work request's id is its position's low 32 bits. The last request of each chain is signalled,
 * and every k-th: a completion stands for all earlier requests of the queue, for a reliable
 * connection completes them in order. So a failure tells that what came before it has arrived.
 */
public final class SendQueue {
    private final int depth;
    private final int signalEvery;
    private final @Nullable Work[] works;
    private final long[] lastPositions;
    /** Whether some of the work's requests were refused. */
    private final boolean[] cut;
    private int firstWork;
    private int workCount;
    private long posted;
    private long retired;
    private int unsignalled;

    /**
     * @param depth work requests that the queue pair holds
     * @param signalEvery how many may follow one another unsignalled, at most {@code depth / 2}
     */
    public SendQueue(int depth, int signalEvery) {
        if (signalEvery < 1 || signalEvery > depth / 2) {
            throw new IllegalArgumentException(
                    "signalEvery must be 1 to half of " + depth + ": " + signalEvery);
        }
        this.depth = depth;
        this.signalEvery = signalEvery;
        this.works = new Work[depth];
        this.lastPositions = new long[depth];
        this.cut = new boolean[depth];
    }

    /** How many more work requests may be posted now, each with a work of its own. */
    public int room() {
        // Works may share a request, and then there are more of them.
        return depth - Math.max(workCount, (int) (posted - retired));
    }

    public boolean isDrained() {
        return posted == retired;
    }

    /** The position of the next request, which the caller posts. */
    public long take() {
        if (room() == 0) {
            throw new IllegalStateException("the send queue is full");
        }
        unsignalled++;
        return posted++;
    }

    /** Whether the request taken last must be signalled, though its chain goes on. */
    public boolean isSignalDue() {
        return unsignalled >= signalEvery;
    }

    /** The request taken last is signalled. */
    public void signalled() {
        unsignalled = 0;
    }

    /** The work's last request is the one taken last. */
    public void add(Work work) {
        int at = (firstWork + workCount) % depth;
        works[at] = work;
        lastPositions[at] = posted - 1;
        cut[at] = false;
        workCount++;
    }

    /**
     * The adapter did not take the last requests in. Their works have failed, and end with what it
     * did take in, since earlier requests of theirs may be among that.
     */
    public void refused(int requests) {
        posted -= requests;
        for (int i = workCount - 1; i >= 0; i--) {
            int at = (firstWork + i) % depth;
            if (lastPositions[at] < posted) {
                break;
            }
            lastPositions[at] = posted - 1;
            cut[at] = true;
        }
        retire(retired - 1, false);
    }

    /**
     * A completion was polled.
     *
     * @param id low 32 bits of the request's position
     */
    public void completed(int id, boolean success) {
        long position = retired + Integer.toUnsignedLong(id - (int) retired);
        if (position >= posted) {
            throw new IllegalStateException("completion of a request that was not posted");
        }
        if (!success) {
            retire(position - 1, true);
        }
        retire(position, success);
    }

    /** The queue pair is gone: nothing that was posted can be touched any more. */
    public void abandon() {
        retire(posted - 1, false);
    }

    private void retire(long last, boolean arrived) {
        retired = Math.max(retired, last + 1);
        while (workCount > 0 && lastPositions[firstWork] <= last) {
            int at = firstWork;
            firstWork = (firstWork + 1) % depth;
            workCount--;
            end(at, arrived);
        }
    }

    private void end(int at, boolean arrived) {
        Work work = requireNonNull(works[at]);
        works[at] = null;
        work.ended(arrived && !cut[at]);
    }
}
