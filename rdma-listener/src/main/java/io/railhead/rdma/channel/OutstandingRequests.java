package io.railhead.rdma.channel;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.message.MessageException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The unanswered requests of one channel, as the gateway counts them: at most as many as credits,
 * and no id twice. A hash table with open addressing; allocates nothing after construction. The
 * channel's own thread only.
 */
public final class OutstandingRequests {
    private final int maxRequests;
    private final int mask;
    private final int[] ids;
    private final @Nullable RequestOperation[] operations;
    private final boolean[] cancelled;
    private int size;

    public OutstandingRequests(int maxRequests) {
        if (maxRequests < 1) {
            throw new IllegalArgumentException("maxRequests must be > 0: " + maxRequests);
        }
        this.maxRequests = maxRequests;
        int capacity = Integer.highestOneBit(maxRequests) << 2;
        this.mask = capacity - 1;
        this.ids = new int[capacity];
        this.operations = new RequestOperation[capacity];
        this.cancelled = new boolean[capacity];
    }

    /** Adds a request; throws if the peer has no credit left or uses the id already. */
    public void add(int id, RequestOperation operation) throws MessageException {
        if (size == maxRequests) {
            throw new MessageException("requests must be within the credits: " + maxRequests);
        }
        int at = home(id);
        while (operations[at] != null) {
            if (ids[at] == id) {
                throw new MessageException("a request's id must not be in use: " + id);
            }
            at = (at + 1) & mask;
        }
        ids[at] = id;
        operations[at] = operation;
        cancelled[at] = false;
        size++;
    }

    public boolean contains(int id) {
        return find(id) >= 0;
    }

    /**
     * Marks an outstanding request as cancelled; false if there is none, or it was cancelled
     * before.
     */
    public boolean tryCancel(int id) {
        int at = find(id);
        if (at < 0 || cancelled[at]) {
            return false;
        }
        cancelled[at] = true;
        return true;
    }

    /** Removes a request; false if it was not outstanding. */
    public boolean remove(int id) {
        int hole = find(id);
        if (hole < 0) {
            return false;
        }
        size--;
        // Entries that were displaced past the hole move back, so that no search ends too early.
        for (int at = (hole + 1) & mask; operations[at] != null; at = (at + 1) & mask) {
            if (((at - home(ids[at])) & mask) >= ((at - hole) & mask)) {
                ids[hole] = ids[at];
                operations[hole] = operations[at];
                cancelled[hole] = cancelled[at];
                hole = at;
            }
        }
        operations[hole] = null;
        return true;
    }

    public int size() {
        return size;
    }

    /**
     * Returns final answers for a session that is over, once nothing touches its buffers. Requests
     * that store nothing were not served; writes get no answer, since their outcome is unknown.
     */
    public List<Answer> unserved(String code) {
        List<Answer> answers = new ArrayList<>();
        for (int at = 0; at <= mask; at++) {
            RequestOperation operation = operations[at];
            if (operation != null && !operation.isWrite()) {
                answers.add(Answer.declined(ids[at], code));
            }
        }
        return answers;
    }

    private int find(int id) {
        int at = home(id);
        while (operations[at] != null) {
            if (ids[at] == id) {
                return at;
            }
            at = (at + 1) & mask;
        }
        return -1;
    }

    private int home(int id) {
        return ((id * 0x9e3779b9) >>> 16) & mask;
    }
}
