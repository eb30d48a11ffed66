package io.railhead.rdma.verbs;

import java.nio.ByteBuffer;

/** A message that waits for a buffer and for its turn. */
final class MessageSend implements Outgoing {
    private static final int NONE = -1;

    private final Link link;
    private final ByteBuffer message;
    private int buffer = NONE;

    /**
     * @param message from its position to its limit; not changed any more
     */
    MessageSend(Link link, ByteBuffer message) {
        this.link = link;
        this.message = message;
    }

    @Override
    public boolean tryAdd(Chain chain) {
        if (buffer == NONE) {
            buffer = link.tryTakeBuffer();
        }
        if (buffer == NONE) {
            return false;
        }
        ByteBuffer to = link.memory().buffer(buffer);
        int bytes = message.remaining();
        to.put(0, message, message.position(), bytes);
        if (!chain.tryMessage(link.memory().address(buffer), bytes, link.memory().localKey())) {
            return false;
        }
        chain.end(this);
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
            link.giveBack(buffer);
            buffer = NONE;
        }
    }
}
