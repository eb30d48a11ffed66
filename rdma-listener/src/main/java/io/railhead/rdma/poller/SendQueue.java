package io.railhead.rdma.poller;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * The accounting of one send queue: the posted requests in order, and those that have completed.
 * Its poller only; allocates nothing.
 *
 * <pre>
 *   position:   0 ........ retired ........ posted ........ retired + depth
 *               |  let go  |  the adapter's  |     room      |
 * </pre>
 *
 * A work request's id is its position's low 32 bits. The last request of each batch is signalled,
 * and every k-th one. A completion covers all earlier requests of the queue, since a reliable
 * connection completes them in order. A failure therefore shows that earlier requests arrived.
 */
public final class SendQueue {
    private final int depth;
    private final int signalEvery;
    private final @Nullable Work[] works;
    private final long[] lastPositions;
    /** Marks works of which some requests were refused. */
    private final boolean[] cut;
    private int firstWork;
    private int workCount;
    private long posted;
    private long retired;
    private int unsignalled;

    /**
     * @param depth the most work requests that the queue pair holds
     * @param signalEvery the most requests in a row without a signal, at most {@code depth / 2}
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

    /** Returns how many more work requests, each with its own work, may be posted now. */
    public int room() {
        // Works may share a request, and may then outnumber requests.
        return depth - Math.max(workCount, (int) (posted - retired));
    }

    public boolean isDrained() {
        return posted == retired;
    }

    /** Returns the position of the next request, which the caller must post. */
    public long take() {
        if (room() == 0) {
            throw new IllegalStateException("the send queue is full");
        }
        unsignalled++;
        return posted++;
    }

    /** Returns whether the latest request must be signalled although its batch goes on. */
    public boolean isSignalDue() {
        return unsignalled >= signalEvery;
    }

    /** Notes that the latest request is signalled. */
    public void signalled() {
        unsignalled = 0;
    }

    /** Adds a work whose last request is the latest one. */
    public void add(Work work) {
        int at = (firstWork + workCount) % depth;
        works[at] = work;
        lastPositions[at] = posted - 1;
        cut[at] = false;
        workCount++;
    }

    /**
     * Handles requests that the adapter refused. Their works have failed, and end when their
     * accepted requests have completed.
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
     * Handles a completion.
     *
     * @param id the low 32 bits of the request's position
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

    /**
     * Ends all works after the queue pair was destroyed: nothing can touch their memory any more.
     */
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
