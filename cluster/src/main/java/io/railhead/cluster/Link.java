package io.railhead.cluster;

/**
 * The way to the other members. Frames of one sender's casts arrive in their order, or are missing;
 * frames sent to one member may overtake casts. Any thread may send, and no call waits for a
 * member, except {@link #open} and {@link #close}.
 */
public interface Link extends AutoCloseable {

    /** Hears from the other members, on the link's threads. Nothing may block for long. */
    interface Ear {

        /** Reports another view; it was in force before the first frame that was sent under it. */
        void membersAre(Membership membership);

        void heard(Member from, byte[] frame);
    }

    /**
     * Joins the cluster, or becomes its first member. Blocks until this gateway has a view.
     *
     * @throws IllegalStateException with one line if it cannot listen
     */
    void open(Ear ear);

    /** Sends a frame to all other members of the present view. */
    void cast(byte[] frame);

    /** Sends a frame to one member; without effect if it has gone. */
    void send(Member to, byte[] frame);

    /** Leaves the cluster. Blocks. */
    @Override
    void close();
}
