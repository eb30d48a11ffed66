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
 * A peer's queue of messages: requests within the credits, the others in their order. Its lock is
 * held while something is sent and never while an answer is given out. Any thread.
 *
 * <p> Where the transport fails, it is shut down: who receives hears it, and ends the channel.
 */
final class ClientOutbox {
    private static final Message KEEP_ALIVE = new Message.Ping(0);
    private static final Message KEEP_ALIVE_HEARD = new Message.Pong(0);

    private final ClientTransport transport;
    private final ReentrantLock lock = new ReentrantLock();
    /** By id; sent or not. */
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

    /** How much the reading thread is to see to. */
    int left() {
        return left.get();
    }

    /** The reading thread says so before it looks at {@link #left} and sleeps. */
    void setReaderIdle(boolean idle) {
        readerIdle = idle;
    }

    /**
     * Sends requests whose answers the reading thread sees to: all, or none where one is refused.
     */
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

    /** Sends a request whose answer its caller sees to. */
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

    /** Its caller does not see to it after all. */
    void leave(Awaited<?> awaited) {
        lock.lock();
        try {
            noteLeft(awaited);
            wakeReader();
        } finally {
            lock.unlock();
        }
    }

    /** Has the reading thread look whether anything is left to it. */
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

    /** Asks for a request to be given up; the answer to give out if it was never sent. */
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

    /** It was not sent, and will not be. */
    private void withdraw(PendingRequest unsaid) {
        unsent.remove(unsaid);
        pending.remove(unsaid.request.id());
        settle(unsaid);
    }

    /** Says something without an answer. */
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

    /** Asks; {@code hold} keeps back all else until {@link #resume}. */
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

    /** Does what is to be said past the messages, and then sends what was kept back. */
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

    /** Who asked for this; null for the answer to a keep-alive. */
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

    /** Whose answers these are, in their order; each gives its credit back. */
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

    /** Says something, unless something has been said since the last time. */
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

    /** Says nothing more; who was waiting, and will not be answered. */
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
