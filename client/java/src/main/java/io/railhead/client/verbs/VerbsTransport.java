package io.railhead.client.verbs;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCReqNotify;
import io.railhead.client.channel.ClientTransport;
import io.railhead.os.EventDescriptor;
import io.railhead.os.PollSet;
import io.railhead.os.verbs.Completions;
import io.railhead.os.verbs.PreparedReceives;
import io.railhead.os.verbs.PreparedSends;
import io.railhead.protocol.message.MessageHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * Messages on a queue pair, one SEND each. The receiver posts a spare receive before it reads a
 * message. At the end the queue pair enters ERR before the end is reported, so that the memory is
 * the client's own again.
 */
public final class VerbsTransport implements ClientTransport {
    private static final int BATCH = 16;
    private static final int SIGNALED = 2;
    private static final int INLINE = 8;
    private static final long LONGEST_WAIT_MILLIS = 1000;

    private final ClientConnection ownedLink;
    private final PreparedSends send;
    private final PreparedReceives receive;
    private final SVCReqNotify notification;
    private final EventDescriptor wake = new EventDescriptor();
    private final EventDescriptor ended = new EventDescriptor();
    private final PollSet messageOrEnd;
    private final PollSet wakeOrEnd;
    private volatile boolean over;

    /** The sender's state. */
    private final Completions sent;
    private final int[] freeBuffers;
    private int freeCount;
    private int filling;

    /** The receiver's state: polled completions that are not delivered yet. */
    private final Completions received;
    private int next;
    private int spare;

    VerbsTransport(ClientConnection ownedLink) throws IOException {
        this.ownedLink = ownedLink;
        send = ownedLink.verbs().prepareSends(1, 1);
        receive = ownedLink.verbs().prepareReceives(1, 1);
        sent = ownedLink.verbs().completions(BATCH);
        received = ownedLink.verbs().completions(BATCH);
        notification = ownedLink.received().reqNotification(false);
        messageOrEnd = new PollSet(ownedLink.receiveDescriptor(), ownedLink.eventDescriptor(),
                ended.descriptor());
        wakeOrEnd = new PollSet(wake.descriptor(), ownedLink.eventDescriptor(),
                ended.descriptor());
        spare = ownedLink.receives();
        freeBuffers = new int[ownedLink.sends()];
        for (int i = 0; i < freeBuffers.length; i++) {
            freeBuffers[freeCount++] = spare + 1 + i;
        }
    }

    public ClientConnection link() {
        return ownedLink;
    }

    /** Waits for a free buffer if all have messages under way. */
    @Override
    public ByteBuffer outgoing() {
        takeSent();
        while (freeCount == 0 && !over) {
            Thread.onSpinWait();
            takeSent();
        }
        filling = freeBuffers[Math.max(0, freeCount - 1)];
        return ownedLink.memory().buffer(filling);
    }

    private void takeSent() {
        int polled = sent.poll(ownedLink.sent());
        for (int i = 0; i < polled; i++) {
            freeBuffers[freeCount++] = (int) sent.workRequestId(i);
            over |= sent.status(i) != Completions.SUCCESS;
        }
    }

    @Override
    public void send() throws IOException {
        if (over || freeCount == 0) {
            throw new IOException("the connection has ended");
        }
        int bytes = ownedLink.memory().used(filling).position();
        send.clear()
                .add(filling, IbvSendWR.IBV_WR_SEND,
                        SIGNALED | (bytes <= ownedLink.inlineBytes() ? INLINE : 0))
                .entry(ownedLink.memory().address(filling), bytes, ownedLink.memory().localKey());
        if (send.post(ownedLink.queuePair()) != 1) {
            throw new IOException("a message was refused with errno " + send.refusal());
        }
        freeCount--;
    }

    @Override
    public int receive(Sink sink) throws IOException {
        if (next == received.size()) {
            int _ = poll();
        }
        int messages = 0;
        while (next < received.size()) {
            int index = next++;
            if (received.status(index) != Completions.SUCCESS) {
                shutDown();
                return -1;
            }
            hand((int) received.workRequestId(index), received.bytes(index), sink);
            messages++;
        }
        return messages > 0 || !isOver() ? messages : -1;
    }

    private int poll() {
        next = 0;
        return received.poll(ownedLink.received());
    }

    private void hand(int buffer, int bytes, Sink sink) throws IOException {
        ownedLink.addReceive(receive.clear(), spare);
        if (receive.post(ownedLink.queuePair()) != 1) {
            throw new IOException("a receive was refused with errno " + receive.refusal());
        }
        spare = buffer;
        ByteBuffer message = ownedLink.memory().buffer(buffer).limit(bytes);
        sink.message(MessageHeader.requireWhole(message), message, MessageHeader.BYTES, bytes);
    }

    /** Returns whether nothing more will come; received messages may still be waiting. */
    private boolean isOver() throws IOException {
        if (!over && ownedLink.isDisconnected()) {
            shutDown();
        }
        return over;
    }

    @Override
    public void awaitMessage(long nanos) throws IOException {
        notification.execute();
        if (isOver() || next < received.size() || poll() > 0) {
            return;
        }
        int _ = messageOrEnd.await(millis(nanos));
        if (messageOrEnd.isReady(0)) {
            ownedLink.takeCompletionEvents();
        }
    }

    @Override
    public boolean awaitEnd(long nanos) throws IOException {
        if (!isOver()) {
            int _ = wakeOrEnd.await(millis(nanos));
            if (wakeOrEnd.isReady(0)) {
                wake.clear();
            }
        }
        return isOver();
    }

    private static int millis(long nanos) {
        return (int) Math.min(LONGEST_WAIT_MILLIS, TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
    }

    @Override
    public void wakeUp() {
        wake.signal();
    }

    @Override
    public void shutDown() {
        ownedLink.breakOff();
        over = true;
        ended.signal();
    }

    @Override
    public void close() {
        ownedLink.close();
        notification.free();
        send.close();
        receive.close();
        sent.close();
        received.close();
        messageOrEnd.close();
        wakeOrEnd.close();
        wake.close();
        ended.close();
    }
}
