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
 * <p>Failures of the library are {@link VerbsException}. Objects are closed by whoever created
 * them, once, and in this order: queue pairs, then completion queues, completion channels,
 * registrations, protection domains, ids, event channels, contexts. Memory that a queue pair's work
 * requests name may be freed once its completion was polled or the queue pair's destruction has
 * returned, not before.
 */
public interface VerbsExtensions {
    /** Names of the devices that rdma_cm can use now; empty where there are none. */
    List<String> devices() throws IOException;

    /**
     * The context that rdma_cm itself uses for a device, so that protection domains and completion
     * queues made from it serve ids of that device. iWARP is refused with its reason.
     */
    IbvContext open(String device) throws IOException;

    /** Ends what {@link #open} began, after everything made from it. */
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

    /** To {@link RdmaCmId#connect} or {@link RdmaCmId#accept} with. */
    RdmaConnParam connParam(ConnectionParameters parameters) throws IOException;

    /** What the peer said, with an event of a connection; it stays readable after the ack. */
    ConnectionParameters parameters(RdmaCmEvent event);

    /** What an event says happened. */
    static RdmaCmEvent.EventType typeOf(RdmaCmEvent event) {
        return List.of(RdmaCmEvent.EventType.values()).get(event.getEvent());
    }

    /** Refuses a connection request; the peer gets REJECTED with the private data. */
    void reject(RdmaCmId id, ByteBuffer privateData) throws IOException;

    /** Time until a packet is sent again: 4.096 µs × 2^exponent. Before connect or accept. */
    void setAckTimeout(RdmaCmId id, int exponent) throws IOException;

    /** Traffic class (DSCP × 4). Before the address is resolved, or on the listener. */
    void setTypeOfService(RdmaCmId id, int typeOfService) throws IOException;

    /** Lets a listener take an address whose last connections are not yet forgotten. */
    void setReuseAddress(RdmaCmId id) throws IOException;

    /** A queue pair that rdma_cm knows nothing of, in RESET. */
    IbvQP createQueuePair(IbvPd domain, IbvQPInitAttr attributes) throws IOException;

    /** Destroys a queue pair of {@link #createQueuePair}; on return no adapter uses its memory. */
    void destroyQueuePair(IbvQP queuePair) throws IOException;

    /** Empty attributes, with their address handle and route, for {@link #modify}. */
    IbvQpAttr queuePairAttributes();

    /**
     * What a queue pair of a connection is moved to a state with, as far as rdma_cm knows: to be
     * changed where one knows better, for {@link #modify}. INIT once the address is resolved or a
     * peer asks; RTR and RTS once both sides have spoken, or before {@link RdmaCmId#accept}.
     *
     * @param state {@code IbvQP.IBV_QPS_*}
     */
    IbvQpAttr connectionAttributes(RdmaCmId id, int state) throws IOException;

    /** Completes, on CONNECT_RESPONSE, a connection whose queue pair is none of rdma_cm's. */
    void establish(RdmaCmId id) throws IOException;

    /** Sets the attributes that {@link IbvQpAttr#getQpAttrMask} names ({@link QueuePairMask}). */
    void modify(IbvQP queuePair, IbvQpAttr attributes) throws IOException;

    /** Moves a queue pair to ERR: everything posted is flushed into its completion queues. */
    void toError(IbvQP queuePair) throws IOException;

    /**
     * What the queue pair has now.
     *
     * @param mask the attributes wanted, {@link QueuePairMask}; the others mean nothing
     */
    IbvQpAttr query(IbvQP queuePair, int mask) throws IOException;

    /** Readable when {@link #nextAsyncEvent} has something; never blocks. */
    int asyncDescriptor(IbvContext context);

    /**
     * The next event of the device, acknowledged; null when there is none now. A context that was
     * open before may still hold events of then: what counts is the port's state now.
     */
    @Nullable
    AsyncEvent nextAsyncEvent(IbvContext context) throws IOException;

    /** Room for a chain of sends, filled and posted again and again by one thread. */
    PreparedSends prepareSends(int requests, int entriesPerRequest);

    PreparedReceives prepareReceives(int requests, int entriesPerRequest);

    /** Room for what one poll takes from a completion queue. */
    Completions completions(int capacity);

    /** The library's words for a completion's status. */
    String statusText(int status) throws IOException;
}
