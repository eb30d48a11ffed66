package io.railhead.rdma.channel;

import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.channel.Answer;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.session.PeerSession;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A peer's channel as the handler of its requests sees it. */
public interface RequestChannel {

    PeerSession session();

    /** The channel's own thread. Refuses nothing: what comes after the channel's end still runs. */
    Executor executor();

    /**
     * Sends the answer of one outstanding request. Every write of the request's transfer has
     * completed, or is fenced. After the channel's end, nothing happens. Any thread.
     */
    void answer(Answer answer);

    /**
     * The hit path: writes the slices one after another from the window's start, then sends the
     * answer. If a write fails, the rest is fenced and the request is answered with status 0 and
     * the reason instead. The channel's own thread only.
     *
     * @param ownedSlices owned by the channel from the call on, whatever happens; the array stays
     *            the caller's
     * @param count how many of the array there are; together no longer than the window
     */
    void deliver(RemoteBuffer window, @Nullable PageSlice[] ownedSlices, int count, Answer answer);
}
