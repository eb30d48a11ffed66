package io.railhead.client;

import io.railhead.client.channel.ChannelEndedException;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The connector of one fabric: allocates memory and connects to a gateway. */
interface FabricConnector {

    /** The fabric, as the gateway names it. */
    String fabric();

    /** Throws where this host has not got what it takes; the message says what. */
    void requireUsable() throws IOException;

    /** Memory, zeroed, that a peer of these can register. */
    Memory allocate(long bytes);

    /** Connects and proves the session's key. Blocks. */
    Peer connect(SessionGrant grant, byte[] sessionKey, Duration timeout) throws IOException;

    /** Memory of this process; whoever allocated it closes it, once no peer touches it. */
    interface Memory extends AutoCloseable {
        MemorySegment segment();

        @Override
        void close();
    }

    /** This process's end of a proven session. Any thread. */
    interface Peer extends AutoCloseable {
        /** The session's number, for tokens. */
        int sessionNumber();

        /** Lets the gateway reach the memory; answers its key. Blocks. */
        int register(Memory memory) throws IOException;

        /** Returns when the gateway no longer touches the memory. */
        void deregister(int key) throws IOException;

        /**
         * Sends the requests, together where they fit; their ids are chosen here. Never blocks. An
         * answer completes on a thread of the peer's, which must not be blocked. A request that got
         * no answer fails with {@link ChannelEndedException}. In either case its window is this
         * process's again, unless the session has ended and {@link #hasLetGo} says no.
         */
        List<CompletionStage<Answer>> send(List<Request> requests);

        /** Sends one and waits, with the least delay that there is; otherwise as {@link #send}. */
        Answer call(Request request) throws IOException;

        boolean isOpen();

        /**
         * Of a session that has ended: whether the gateway can touch no memory of this process any
         * more. A gateway that hung is not known to, and what was under way then stays its own.
         */
        boolean hasLetGo();

        /** Ends the session; waits, for the timeout at most, until the gateway has let go. */
        @Override
        void close();
    }
}
