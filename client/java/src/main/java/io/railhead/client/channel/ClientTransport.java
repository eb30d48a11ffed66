package io.railhead.client.channel;

import io.railhead.protocol.message.MessageException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The transport of a peer's messages. One sender, one receiver and one thread in {@link #awaitEnd}
 * at a time, which may be three threads; {@link #shutDown} brings all of them back, and
 * {@link #close} comes after they have left.
 */
public interface ClientTransport extends AutoCloseable {

    /** Takes a message in; an exception ends the channel. */
    @FunctionalInterface
    interface Sink {

        /**
         * @param message little-endian, and only until this returns
         * @param payload where the payload begins
         * @param end where it ends
         */
        void message(int type, ByteBuffer message, int payload, int end) throws MessageException;
    }

    /** Room for one message, empty and little-endian: to be filled and sent. Sender only. */
    ByteBuffer outgoing();

    /** Sends what lies in {@link #outgoing} before its position. Sender only. */
    void send() throws IOException;

    /**
     * Hands out the messages that are there, without waiting. Receiver only.
     *
     * @return how many; -1 at the end
     */
    int receive(Sink sink) throws IOException;

    /** Waits for a message, or the end; at most so long, and perhaps less. Receiver only. */
    void awaitMessage(long nanos) throws IOException;

    /**
     * Waits for the end, or {@link #wakeUp}; at most so long, and perhaps less. A message that
     * comes meanwhile should wake nobody.
     *
     * @return whether the end has come
     */
    boolean awaitEnd(long nanos) throws IOException;

    /** Brings a thread back from {@link #awaitEnd}, or the next that goes there. Any thread. */
    void wakeUp();

    /** Ends the connection. Any thread. */
    void shutDown();

    @Override
    void close();
}
