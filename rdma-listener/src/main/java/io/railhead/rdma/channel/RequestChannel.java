package io.railhead.rdma.channel;

import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.channel.Answer;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.session.PeerSession;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A peer's channel, as the handler of its requests uses it. */
public interface RequestChannel {

    PeerSession session();

    /**
     * Returns an executor on the channel's own thread. It refuses nothing: tasks still run after
     * the channel's end.
     */
    Executor executor();

    /**
     * Sends the answer of one outstanding request. Every write of the request's transfer must have
     * completed, or be fenced. Does nothing after the channel's end. Any thread.
     */
    void answer(Answer answer);

    /**
     * Serves a hit: writes the slices one after another from the window's start, then sends the
     * answer. If a write fails, the rest is fenced, and the request is answered with status 0 and
     * the reason. The channel's own thread only.
     *
     * @param ownedSlices the channel owns the slices from the call on, whatever happens; the array
     *            stays the caller's
     * @param count the number of slices in the array; together no longer than the window
     */
    void deliver(RemoteBuffer window, @Nullable PageSlice[] ownedSlices, int count, Answer answer);
}
