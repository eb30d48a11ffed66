package io.railhead.client.channel;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestCodec;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The client's queue of messages: requests within the credits, the others in order. Its lock is
 * held while messages are sent, and never while answers complete. Any thread.
 *
 * <p> A failed transport is shut down; the receiving thread then sees the end, and ends the
 * channel.
 */
final class ClientOutbox {
    private static final Message KEEP_ALIVE = new Message.Ping(0);
    private static final Message KEEP_ALIVE_HEARD = new Message.Pong(0);

    private final ClientTransport transport;
    private final ReentrantLock lock = new ReentrantLock();
    /** Outstanding requests by id, sent or not. */
    private final Map<Integer, PendingRequest> pending = new HashMap<>();
    private final Deque<PendingRequest> unsent = new ArrayDeque<>();
    private final Deque<Message> heldBack = new ArrayDeque<>();
    private int credits;
    private boolean held;
    private boolean saidSomething;
    private boolean pongAwaited;
    private boolean ended;
    private @Nullable Awaited<Message> question;
    private volatile boolean readerIdle;
    private final AtomicInteger left = new AtomicInteger();

    ClientOutbox(ClientTransport transport, int maxRequests) {
        this.transport = transport;
        this.credits = maxRequests;
    }

    /** Returns the number of responses that the reading thread must receive. */
    int left() {
        return left.get();
    }

    /**
     * Sets the idle flag, which the reading thread does before it checks {@link #left} and sleeps.
     */
    void setReaderIdle(boolean idle) {
        readerIdle = idle;
    }

    /** Sends requests whose answers the reading thread receives: all, or none if one is refused. */
    List<PendingRequest> sendAndLeave(Collection<Request> requests) {
        lock.lock();
        try {
            List<PendingRequest> begun = begin(requests);
            begun.forEach(this::noteLeft);
            sendRequests();
            wakeReader();
            return begun;
        } finally {
            lock.unlock();
        }
    }

    /** Sends a request whose answer its caller receives. */
    PendingRequest send(Request request) {
        lock.lock();
        try {
            PendingRequest begun = begin(request);
            sendRequests();
            return begun;
        } finally {
            lock.unlock();
        }
    }

    /** Leaves a response to the reading thread after all. */
    void leave(Awaited<?> awaited) {
        lock.lock();
        try {
            noteLeft(awaited);
            wakeReader();
        } finally {
            lock.unlock();
        }
    }

    /** Wakes the reading thread if responses are left to it. */
    void nudgeReader() {
        if (left.get() > 0 && readerIdle) {
            lock.lock();
            try {
                wakeReader();
            } finally {
                lock.unlock();
            }
        }
    }

    private List<PendingRequest> begin(Collection<Request> requests) {
        List<PendingRequest> begun = new ArrayList<>(requests.size());
        try {
            for (Request request : requests) {
                begun.add(begin(request));
            }
            return begun;
        } catch (RuntimeException | Error e) {
            begun.forEach(this::withdraw);
            throw e;
        }
    }

    private PendingRequest begin(Request request) {
        if (RequestCodec.recordBytes(request) > MessageHeader.MAX_MESSAGE_BYTES
                - MessageHeader.BYTES) {
            throw new IllegalArgumentException("a request must fit into a message");
        }
        PendingRequest begun = new PendingRequest(request);
        if (ended) {
            begun.completeExceptionally(new ChannelEndedException(null, false));
            return begun;
        }
        if (pending.putIfAbsent(request.id(), begun) != null) {
            throw new IllegalArgumentException(
                    "a request's id must not be outstanding: " + request.id());
        }
        unsent.add(begun);
        return begun;
    }

    private void noteLeft(Awaited<?> awaited) {
        if (!awaited.left && !awaited.isDone()) {
            awaited.left = true;
            left.incrementAndGet();
        }
    }

    private void settle(Awaited<?> awaited) {
        if (awaited.left) {
            awaited.left = false;
            left.decrementAndGet();
        }
    }

    private void wakeReader() {
        if (readerIdle && left.get() > 0 && !ended) {
            transport.wakeUp();
        }
    }

    private void sendRequests() {
        while (!held && credits > 0 && !unsent.isEmpty()) {
            ByteBuffer message = transport.outgoing();
            message.position(MessageHeader.BYTES);
            PendingRequest next = unsent.peek();
            while (credits > 0 && next != null && RequestCodec.tryEncode(next.request, message)) {
                unsent.remove();
                next.sent = true;
                credits--;
                next = unsent.peek();
            }
            MessageHeader.put(message, 0, MessageHeader.REQUESTS,
                    message.position() - MessageHeader.BYTES);
            transmit();
        }
    }

    private void say(Message message) {
        if (held) {
            heldBack.add(message);
            return;
        }
        transport.outgoing().put(MessageCodec.encode(message));
        transmit();
    }

    private void transmit() {
        saidSomething = true;
        try {
            transport.send();
        } catch (IOException _) {
            transport.shutDown();
        }
    }

    /** Cancels a request; returns it if it was never sent, so that the caller completes it. */
    @Nullable
    PendingRequest cancel(int requestId) {
        lock.lock();
        try {
            PendingRequest unwanted = pending.get(requestId);
            if (unwanted == null || unwanted.cancelled) {
                return null;
            }
            unwanted.cancelled = true;
            if (unwanted.sent) {
                say(new Message.Cancel(requestId));
                return null;
            }
            withdraw(unwanted);
            return unwanted;
        } finally {
            lock.unlock();
        }
    }

    /** Removes a request that was not sent. */
    private void withdraw(PendingRequest unsaid) {
        unsent.remove(unsaid);
        pending.remove(unsaid.request.id());
        settle(unsaid);
    }

    /** Sends a message without a response. */
    void tell(Message message) {
        lock.lock();
        try {
            if (!ended) {
                say(message);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sends a message with a response; {@code hold} holds back all others until {@link #resume}.
     */
    Awaited<Message> ask(Message message, boolean hold) {
        lock.lock();
        try {
            Awaited<Message> answer = expect();
            if (!ended) {
                say(message);
                held = hold;
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    /** Runs the send beside the messages, and then sends the messages held back. */
    Awaited<Message> resume(ClientChannel.Aside aside) throws IOException {
        lock.lock();
        try {
            Awaited<Message> answer = expect();
            if (!ended) {
                aside.send();
                release();
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    void resume() {
        lock.lock();
        try {
            if (!ended) {
                release();
            }
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        held = false;
        for (Message next = heldBack.poll(); next != null; next = heldBack.poll()) {
            say(next);
        }
        sendRequests();
    }

    private Awaited<Message> expect() {
        Awaited<Message> answer = new Awaited<>();
        if (ended) {
            answer.completeExceptionally(new ChannelEndedException(null, false));
        } else {
            question = answer;
        }
        return answer;
    }

    /** Returns the caller that waits for this response; null for a keep-alive's. */
    @Nullable
    Awaited<Message> heard(Message message) throws MessageException {
        lock.lock();
        try {
            if (message.equals(KEEP_ALIVE_HEARD) && pongAwaited) {
                pongAwaited = false;
                left.decrementAndGet();
                return null;
            }
            Awaited<Message> answer = question;
            if (answer == null) {
                throw new MessageException(
                        "nobody asked for " + message.getClass().getSimpleName());
            }
            question = null;
            settle(answer);
            return answer;
        } finally {
            lock.unlock();
        }
    }

    /** Finds the requests of these answers, in order; each gives its credit back. */
    void answered(List<Answer> answers, List<PendingRequest> into) throws MessageException {
        lock.lock();
        try {
            for (Answer answer : answers) {
                PendingRequest asked = pending.get(answer.id());
                if (asked == null || !asked.sent) {
                    throw new MessageException("nobody asked for answer " + answer.id());
                }
                pending.remove(answer.id());
                settle(asked);
                credits++;
                into.add(asked);
            }
            sendRequests();
        } finally {
            lock.unlock();
        }
    }

    /** Sends a keep-alive, unless a message was sent since the last call. */
    void keepAlive() {
        lock.lock();
        try {
            if (!saidSomething && !held && !ended && !pongAwaited) {
                say(KEEP_ALIVE);
                pongAwaited = true;
                left.incrementAndGet();
            }
            saidSomething = false;
        } finally {
            lock.unlock();
        }
    }

    void shutDown() {
        lock.lock();
        try {
            if (!ended) {
                transport.shutDown();
            }
        } finally {
            lock.unlock();
        }
    }

    boolean isEnded() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the queue; returns the waits that will get no response. */
    List<Awaited<?>> end() {
        lock.lock();
        try {
            List<Awaited<?>> unanswered = new ArrayList<>(pending.values());
            if (question != null) {
                unanswered.add(question);
            }
            if (!ended) {
                transport.shutDown();
                ended = true;
            }
            pending.clear();
            unsent.clear();
            question = null;
            return unanswered;
        } finally {
            lock.unlock();
        }
    }
}
