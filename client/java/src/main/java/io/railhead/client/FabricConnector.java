package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The connector of one fabric: allocates memory and connects to a gateway. */
interface FabricConnector {

    /** Returns the gateway's name of the fabric. */
    String fabric();

    /** Throws if this host lacks what the fabric needs; the message names it. */
    void requireUsable() throws IOException;

    /** Returns whether a gateway's fabric can be reached from here. May resolve its name. */
    boolean reaches(URI gateway);

    /** Allocates zeroed memory that this fabric's peers can register. */
    Memory allocate(long bytes);

    /** Connects and proves the session's key. Blocks. */
    Peer connect(SessionGrant grant, byte[] sessionKey, Duration timeout) throws IOException;

    /** Memory of this process. Its allocator closes it, once no peer touches it. */
    interface Memory extends AutoCloseable {
        MemorySegment segment();

        @Override
        void close();
    }

    /** This process's end of a proven session. Any thread. */
    interface Peer extends AutoCloseable {
        /** Returns the session's number, for tokens. */
        int sessionNumber();

        /** Lets the gateway access the memory; returns its key. Blocks. */
        int register(Memory memory) throws IOException;

        /** Deregisters memory; returns when the gateway no longer touches it. */
        void deregister(int key) throws IOException;

        /**
         * Sends the requests, together if they fit, under ids chosen here. Never blocks. Answers
         * complete on a thread of the peer, which must not be blocked. A request without an answer
         * fails with {@link ChannelEndedException}. Afterwards its window belongs to this process
         * again, unless the session has ended and {@link #hasLetGo} is false.
         */
        List<CompletionStage<Answer>> send(List<Request> requests);

        /** Sends one request as {@link #send} does, and waits with the least delay. */
        Answer call(Request request) throws IOException;

        boolean isOpen();

        /**
         * Returns, after the session's end, whether the gateway can touch no memory of this process
         * any more. After a gateway hung that is unknown, and the memory of requests under way
         * stays in its hands.
         */
        boolean hasLetGo();

        /**
         * Ends the session, and waits, at most for the timeout, until the gateway has released all
         * memory.
         */
        @Override
        void close();
    }
}
