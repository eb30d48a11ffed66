package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvSendWR;
import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerCodec;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.rdma.RemoteBuffer;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A hit on its way: its slices' writes and the answer, in one batch if there is room. The answer
 * arrives after the bytes. Its connection reuses it for one request after another; poller only. It
 * owns the slices until the answer's completion, which covers the whole hit. The bytes of all
 * slices are taken from the budget before the first is posted: partly served deliveries would wait
 * for each other.
 */
final class VerbsDelivery implements Outgoing {
    private static final int NONE = -1;

    private final VerbsConnection connection;
    private @Nullable PageSlice[] slices = new PageSlice[16];
    private int count;
    /** The bytes of all slices. */
    private long bytes;
    private boolean isTaken;
    /** The number of slices in the queue. */
    private int added;
    private long addedBytes;
    private long remote;
    private @Nullable VerbsRegion region;
    private @Nullable Answer answer;
    private int buffer = NONE;

    VerbsDelivery(VerbsConnection connection) {
        this.connection = connection;
    }

    /** Begins a delivery of an answer without slices. */
    void begin(Answer alone) {
        count = 0;
        bytes = 0;
        isTaken = false;
        added = 0;
        addedBytes = 0;
        region = null;
        answer = alone;
        buffer = NONE;
    }

    void begin(VerbsRegion target, RemoteBuffer window, @Nullable PageSlice[] ownedSlices,
            int sliceCount, Answer afterwards) {
        begin(afterwards);
        if (slices.length < sliceCount) {
            slices = new PageSlice[Math.max(sliceCount, 2 * slices.length)];
        }
        System.arraycopy(ownedSlices, 0, slices, 0, sliceCount);
        count = sliceCount;
        for (int i = 0; i < count; i++) {
            bytes += requireNonNull(slices[i]).length();
        }
        remote = window.address();
        region = target;
        target.posted();
    }

    @Override
    public boolean tryAdd(WorkRequestBatch workRequestBatch) {
        return tryTake() && tryAddSlices(workRequestBatch) && tryAddAnswer(workRequestBatch);
    }

    private boolean tryTake() {
        isTaken = isTaken || bytes == 0 || connection.link().budget().tryTake(bytes);
        return isTaken;
    }

    private boolean tryAddSlices(WorkRequestBatch workRequestBatch) {
        while (added < count) {
            PageSlice slice = requireNonNull(slices[added]);
            if (!workRequestBatch.tryAdd(IbvSendWR.IBV_WR_RDMA_WRITE, slice, remote + addedBytes,
                    requireNonNull(region).remoteKey())) {
                return false;
            }
            added++;
            addedBytes += slice.length();
        }
        return true;
    }

    private boolean tryAddAnswer(WorkRequestBatch workRequestBatch) {
        QueuePairConnection queuePairConnection = connection.link();
        if (buffer == NONE) {
            buffer = queuePairConnection.tryTakeBuffer();
        }
        if (buffer == NONE) {
            return false;
        }
        ByteBuffer message = queuePairConnection.memory().buffer(buffer);
        encode(message);
        if (!workRequestBatch.tryMessage(queuePairConnection.memory().address(buffer),
                message.limit(),
                queuePairConnection.memory().localKey())) {
            return false;
        }
        connection.answering(requireNonNull(answer).id());
        workRequestBatch.end(this);
        return true;
    }

    private void encode(ByteBuffer message) {
        message.position(MessageHeader.BYTES);
        if (!AnswerCodec.tryEncode(requireNonNull(answer), message)) {
            throw new IllegalStateException("an answer alone fits into any message");
        }
        MessageHeader.put(message, 0, MessageHeader.ANSWERS,
                message.position() - MessageHeader.BYTES);
        message.flip();
    }

    @Override
    public boolean isBegun() {
        return added > 0;
    }

    @Override
    public void ended(boolean arrived) {
        if (arrived) {
            connection.delivered(addedBytes);
        } else {
            countBroken();
        }
        end();
    }

    @Override
    public void dropped() {
        countBroken();
        end();
    }

    private void countBroken() {
        if (region != null) {
            connection.undelivered();
        }
    }

    private void end() {
        if (isTaken) {
            connection.link().budget().giveBack(bytes);
        }
        for (int i = 0; i < count; i++) {
            requireNonNull(slices[i]).close();
        }
        Arrays.fill(slices, 0, count, null);
        if (buffer != NONE) {
            connection.link().giveBack(buffer);
        }
        VerbsRegion touched = region;
        region = null;
        answer = null;
        connection.giveBack(this);
        if (touched != null) {
            touched.ended();
        }
    }
}
