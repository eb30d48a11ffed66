package io.railhead.rdma.verbs;

import java.nio.ByteBuffer;

/** A message that waits for a buffer and for its turn. */
final class MessageSend implements Outgoing {
    private static final int NONE = -1;

    private final QueuePairConnection queuePairConnection;
    private final ByteBuffer message;
    private int buffer = NONE;

    /** @param message from its position to its limit; must not change any more */
    MessageSend(QueuePairConnection queuePairConnection, ByteBuffer message) {
        this.queuePairConnection = queuePairConnection;
        this.message = message;
    }

    @Override
    public boolean tryAdd(WorkRequestBatch workRequestBatch) {
        if (buffer == NONE) {
            buffer = queuePairConnection.tryTakeBuffer();
        }
        if (buffer == NONE) {
            return false;
        }
        ByteBuffer to = queuePairConnection.memory().buffer(buffer);
        int bytes = message.remaining();
        to.put(0, message, message.position(), bytes);
        if (!workRequestBatch.tryMessage(queuePairConnection.memory().address(buffer), bytes,
                queuePairConnection.memory().localKey())) {
            return false;
        }
        workRequestBatch.end(this);
        return true;
    }

    @Override
    public void ended(boolean arrived) {
        giveBack();
    }

    @Override
    public void dropped() {
        giveBack();
    }

    private void giveBack() {
        if (buffer != NONE) {
            queuePairConnection.giveBack(buffer);
            buffer = NONE;
        }
    }
}
