package io.railhead.client.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerCodec;
import io.railhead.protocol.message.MessageHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A transport whose other side is the test. */
final class FakeTransport implements ClientTransport {
    private final ByteBuffer outgoing = ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
            .order(LITTLE_ENDIAN);
    private final Deque<ByteBuffer> incoming = new ArrayDeque<>();
    private final List<Integer> sentTypes = new ArrayList<>();
    private boolean wake;
    private boolean failing;
    private boolean over;
    private boolean closed;

    /** What the gateway says next. */
    synchronized void say(ByteBuffer message) {
        incoming.add(message.order(LITTLE_ENDIAN));
        notifyAll();
    }

    void answer(Answer... answers) {
        ByteBuffer message = ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
                .order(LITTLE_ENDIAN)
                .position(MessageHeader.BYTES);
        for (Answer answer : answers) {
            if (!AnswerCodec.tryEncode(answer, message)) {
                throw new IllegalArgumentException("the answers do not fit");
            }
        }
        MessageHeader.put(message, 0, MessageHeader.ANSWERS,
                message.position() - MessageHeader.BYTES);
        say(message.flip());
    }

    /** From now on sending fails. */
    synchronized void fail() {
        failing = true;
    }

    synchronized int sent(int type) {
        return (int) sentTypes.stream().filter(sent -> sent == type).count();
    }

    /** Whether the peer has taken all that was said. */
    synchronized boolean isRead() {
        return incoming.isEmpty();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public ByteBuffer outgoing() {
        return outgoing.clear();
    }

    @Override
    public synchronized void send() throws IOException {
        if (failing || over) {
            throw new IOException("on purpose");
        }
        sentTypes.add(MessageHeader.requireType(outgoing, 0));
    }

    @Override
    public int receive(Sink sink) throws IOException {
        ByteBuffer message;
        synchronized (this) {
            message = incoming.poll();
            if (message == null) {
                return over ? -1 : 0;
            }
        }
        sink.message(MessageHeader.requireType(message, 0), message, MessageHeader.BYTES,
                message.limit());
        return 1;
    }

    @Override
    public synchronized void awaitMessage(long nanos) {
        if (incoming.isEmpty() && !over) {
            pause(nanos);
        }
    }

    @Override
    public synchronized boolean awaitEnd(long nanos) {
        if (!wake && !over) {
            pause(nanos);
        }
        wake = false;
        return over;
    }

    @SuppressWarnings("WaitNotInLoop") // A transport may wait less than it is asked to.
    private void pause(long nanos) {
        try {
            wait(Math.max(1, nanos / 1_000_000));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public synchronized void wakeUp() {
        if (closed) {
            throw new IllegalStateException("woken after its close");
        }
        wake = true;
        notifyAll();
    }

    @Override
    public synchronized void shutDown() {
        over = true;
        notifyAll();
    }

    @Override
    public synchronized void close() {
        if (closed) {
            throw new IllegalStateException("closed twice");
        }
        closed = true;
    }
}
