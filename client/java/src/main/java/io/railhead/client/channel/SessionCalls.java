package io.railhead.client.channel;

import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Pong;
import io.railhead.protocol.message.MessageException;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Messages with a response on a session's channel, one after another. Any thread; calls block and
 * take turns. A response that breaks the protocol closes the channel.
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

    /** @param timeoutNanos the timeout of each call */
    public SessionCalls(ClientChannel channel, long timeoutNanos) {
        this.channel = channel;
        this.timeoutNanos = timeoutNanos;
    }

    /** Runs the steps without another call between them. Steps may make calls. */
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

    /** Makes a round trip. */
    public void ping() throws IOException {
        long value = RANDOM.nextLong() | 1;
        if (ask(new Ping(value), Pong.class).value() != value) {
            throw new MessageException("a PONG to another PING");
        }
    }

    /** Sends BYE and waits until the gateway has released all memory. Idempotent. */
    public void leave() {
        turn.lock();
        try {
            channel.leave(timeoutNanos);
        } finally {
            turn.unlock();
        }
    }
}
