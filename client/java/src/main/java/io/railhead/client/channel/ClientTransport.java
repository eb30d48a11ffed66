package io.railhead.client.channel;

import io.railhead.protocol.message.MessageException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The transport of a client's messages. It has one sender, one receiver and one thread in
 * {@link #awaitEnd} at a time, perhaps three threads. {@link #shutDown} makes all of them return.
 * {@link #close} must come after that.
 */
public interface ClientTransport extends AutoCloseable {

    /** Takes a message; an exception ends the channel. */
    @FunctionalInterface
    interface Sink {

        /**
         * @param message little-endian, and valid only during the call
         * @param payload the offset of the payload
         * @param end the offset of the payload's end
         */
        void message(int type, ByteBuffer message, int payload, int end) throws MessageException;
    }

    /**
     * Returns room for one message, empty and little-endian, to be filled and sent. Sender only.
     */
    ByteBuffer outgoing();

    /** Sends the bytes in {@link #outgoing} before its position. Sender only. */
    void send() throws IOException;

    /**
     * Delivers the messages that have come, without waiting. Receiver only.
     *
     * @return the number of messages; -1 at the end
     */
    int receive(Sink sink) throws IOException;

    /** Waits for a message or the end; at most so long, and perhaps less. Receiver only. */
    void awaitMessage(long nanos) throws IOException;

    /**
     * Waits for the end or {@link #wakeUp}; at most so long, and perhaps less. A message that comes
     * meanwhile should wake no thread.
     *
     * @return whether the end has come
     */
    boolean awaitEnd(long nanos) throws IOException;

    /** Makes a thread return from {@link #awaitEnd}, or the next one that enters it. Any thread. */
    void wakeUp();

    /** Ends the connection. Any thread. */
    void shutDown();

    @Override
    void close();
}
