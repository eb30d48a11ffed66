package io.railhead.client.channel;

import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Pong;
import io.railhead.protocol.message.MessageException;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Questions to the gateway on a session's channel, one after another. Any thread; each call blocks,
 * and they take turns. An answer that breaks the protocol closes the channel.
 */
public final class SessionCalls {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ClientChannel channel;
    private final long timeoutNanos;
    private final ReentrantLock turn = new ReentrantLock();

    /** A call of several steps. */
    public interface Steps<T> {
        T run() throws IOException;
    }

    /** @param timeoutNanos of each call */
    public SessionCalls(ClientChannel channel, long timeoutNanos) {
        this.channel = channel;
        this.timeoutNanos = timeoutNanos;
    }

    /** Runs the steps without another call between them. A call may be one of them. */
    public <T> T inTurn(Steps<T> steps) throws IOException {
        turn.lock();
        try {
            return steps.run();
        } catch (MessageException e) {
            channel.close();
            throw e;
        } finally {
            turn.unlock();
        }
    }

    public <M extends Message> M ask(Message question, Class<M> answerType) throws IOException {
        return inTurn(() -> channel.ask(question, timeoutNanos).require(answerType));
    }

    /** A round trip. */
    public void ping() throws IOException {
        long value = RANDOM.nextLong() | 1;
        if (ask(new Ping(value), Pong.class).value() != value) {
            throw new MessageException("a PONG to another PING");
        }
    }

    /** Says BYE and waits until the gateway has let go. Idempotent. */
    public void leave() {
        turn.lock();
        try {
            channel.leave(timeoutNanos);
        } finally {
            turn.unlock();
        }
    }
}
