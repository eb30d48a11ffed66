package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Calls that DiSNI's types lack, on DiSNI's objects.
 *
 * <p> Failures of the library throw {@link VerbsException}. The creator of an object closes it,
 * once, and in this order: queue pairs, then completion queues, completion channels, registrations,
 * protection domains, ids, event channels, contexts. Memory that a work request names may be freed
 * only after its completion was polled, or the queue pair's destruction has returned.
 */
public interface VerbsExtensions {
    /** Returns the names of the devices that rdma_cm can use now; empty if there are none. */
    List<String> devices() throws IOException;

    /**
     * Returns the context that rdma_cm itself uses for a device. Protection domains and completion
     * queues from it serve ids of that device. iWARP is refused with its reason.
     */
    IbvContext open(String device) throws IOException;

    /** Closes a context of {@link #open}, after everything that was created from it. */
    void close(IbvContext context) throws IOException;

    String deviceName(IbvContext context) throws IOException;

    DeviceLimits limits(IbvContext context) throws IOException;

    PortAttributes port(IbvContext context, int port) throws IOException;

    /**
     * Pins and registers memory of any length; synchronous, slow. Its {@code getLength} is capped
     * at {@link Integer#MAX_VALUE}.
     *
     * @param access {@code IbvMr.IBV_ACCESS_*}; local reading is always allowed
     */
    IbvMr register(IbvPd domain, long address, long bytes, int access) throws IOException;

    void deregister(IbvMr registration) throws IOException;

    /** Returns the parameters for {@link RdmaCmId#connect} or {@link RdmaCmId#accept}. */
    RdmaConnParam connParam(ConnectionParameters parameters) throws IOException;

    /** Returns the peer's parameters in an event of a connection; readable after the ack too. */
    ConnectionParameters parameters(RdmaCmEvent event);

    /** Returns the type of an event. */
    static RdmaCmEvent.EventType typeOf(RdmaCmEvent event) {
        return List.of(RdmaCmEvent.EventType.values()).get(event.getEvent());
    }

    /** Refuses a connection request; the peer gets REJECTED with the private data. */
    void reject(RdmaCmId id, ByteBuffer privateData) throws IOException;

    /** Sets the retransmission timeout: 4.096 µs × 2^exponent. Before connect or accept. */
    void setAckTimeout(RdmaCmId id, int exponent) throws IOException;

    /** Sets the traffic class (DSCP × 4). Before the address is resolved, or on the listener. */
    void setTypeOfService(RdmaCmId id, int typeOfService) throws IOException;

    /** Lets a listener bind an address whose last connections still linger. */
    void setReuseAddress(RdmaCmId id) throws IOException;

    /** Creates a queue pair that rdma_cm does not manage, in RESET. */
    IbvQP createQueuePair(IbvPd domain, IbvQPInitAttr attributes) throws IOException;

    /** Destroys a queue pair of {@link #createQueuePair}; on return no adapter uses its memory. */
    void destroyQueuePair(IbvQP queuePair) throws IOException;

    /** Returns empty attributes, with their address handle and route, for {@link #modify}. */
    IbvQpAttr queuePairAttributes();

    /**
     * Returns the attributes that rdma_cm would use to move a connection's queue pair to a state;
     * the caller may change them before {@link #modify}. INIT once the address is resolved or a
     * peer has requested a connection. RTR and RTS once both sides have sent their parameters, or
     * before {@link RdmaCmId#accept}.
     *
     * @param state {@code IbvQP.IBV_QPS_*}
     */
    IbvQpAttr connectionAttributes(RdmaCmId id, int state) throws IOException;

    /** Completes a connection, on CONNECT_RESPONSE, if rdma_cm does not manage its queue pair. */
    void establish(RdmaCmId id) throws IOException;

    /** Sets the attributes that {@link IbvQpAttr#getQpAttrMask} names ({@link QueuePairMask}). */
    void modify(IbvQP queuePair, IbvQpAttr attributes) throws IOException;

    /** Moves a queue pair to ERR: everything posted is flushed into its completion queues. */
    void toError(IbvQP queuePair) throws IOException;

    /**
     * Returns the queue pair's current attributes.
     *
     * @param mask the attributes wanted, {@link QueuePairMask}; the others are undefined
     */
    IbvQpAttr query(IbvQP queuePair, int mask) throws IOException;

    /**
     * Returns a descriptor that is readable if {@link #nextAsyncEvent} has an event; never blocks.
     */
    int asyncDescriptor(IbvContext context);

    /**
     * Returns the next event of the device, acknowledged; null if there is none now. A context that
     * was opened earlier may still hold old events: only the port's current state counts.
     */
    @Nullable
    AsyncEvent nextAsyncEvent(IbvContext context) throws IOException;

    /** Returns memory for a chain of sends, filled and posted repeatedly by one thread. */
    PreparedSends prepareSends(int requests, int entriesPerRequest);

    PreparedReceives prepareReceives(int requests, int entriesPerRequest);

    /** Returns memory for the completions of one poll. */
    Completions completions(int capacity);

    /** Returns the library's text for a completion's status. */
    String statusText(int status) throws IOException;
}
