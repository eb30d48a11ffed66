package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.railhead.os.verbs.ConnectionParameters;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.rdma.loopback.RefusedException;
import io.railhead.rdma.session.EndReason;
import io.railhead.rdma.session.Message;
import io.railhead.rdma.session.Message.Refused;
import io.railhead.rdma.session.MessageCodec;
import io.railhead.rdma.session.MessageException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A peer's connection as it is made and taken apart: id, device, poller, queue pair. It owns all of
 * them.
 */
final class PeerConnection implements AutoCloseable {
    private static final int SESSION_MESSAGES = 4;

    private final VerbsPeerConfig config;
    private final VerbsExtensions verbs;
    private final RdmaEventChannel channel;
    private final RdmaCmId id;
    private final Adapter adapter;
    private final Rail rail;
    private final Link link;
    private final ByteBuffer accepted;
    private final CmLoop loop;

    private PeerConnection(VerbsPeerConfig config, InetSocketAddress gateway, ByteBuffer hello,
            PeerMessages messages) throws IOException {
        this.config = config;
        verbs = config.provider().install();
        Undo undo = new Undo();
        try {
            channel = RdmaEventChannel.createEventChannel();
            undo.add(channel::destroyEventChannel);
            id = channel.createId(VerbsFabric.TCP_PORTS);
            undo.add(id::destroyId);
            resolve(gateway);
            adapter = Adapter.open(verbs, verbs.deviceName(id.getVerbs()));
            undo.add(adapter::close);
            rail = new Rail("verbs-peer", adapter, config.queuePairs(), config.polling(),
                    VerbsConfig.OutstandingBytes.DEFAULT, new LongAdder());
            undo.add(rail::close);
            int linkId = rail.tryReserve(receives());
            if (linkId < 0) {
                throw new IOException("the device has no completion queue deep enough");
            }
            MessageMemory memory = adapter
                    .takeMessages(receives() + 1 + 2 * config.maxRequests() + SESSION_MESSAGES);
            undo.add(memory::close);
            link = new Link(rail, linkId, id, receives(), memory);
            undo.add(id::destroyQP);
            link.owner(messages);
            rail.join(link);
            rail.start();
            accepted = connect(hello);
            loop = new CmLoop("verbs-peer-control", channel, new Watch());
            loop.start();
        } catch (IOException | RuntimeException e) {
            undo.run(e);
            throw e;
        }
    }

    /**
     * Connects.
     *
     * @param hello said with the connection request
     * @throws RefusedException with the gateway's reason
     */
    static PeerConnection open(VerbsPeerConfig config, InetSocketAddress gateway, ByteBuffer hello,
            PeerMessages messages) throws IOException {
        return new PeerConnection(config, gateway, hello, messages);
    }

    private int receives() {
        return config.maxRequests() + SESSION_MESSAGES;
    }

    private void resolve(InetSocketAddress gateway) throws IOException {
        int millis = (int) config.timeout().toMillis();
        verbs.setAckTimeout(id, config.queuePairs().ackTimeout());
        if (config.queuePairs().trafficClass().isPresent()) {
            verbs.setTypeOfService(id, config.queuePairs().trafficClass().getAsInt());
        }
        id.resolveAddr(config.source() == null ? null : new InetSocketAddress(config.source(), 0),
                gateway, millis);
        var _ = await(EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(millis);
        var _ = await(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
    }

    /** What the gateway said as it accepted. */
    private ByteBuffer connect(ByteBuffer hello) throws IOException {
        QueuePairConfig pairs = config.queuePairs();
        int reads = Math.min(255, Math.min(pairs.readDepth(), adapter.limits().responderReads()));
        id.connect(verbs.connParam(new ConnectionParameters(hello, reads, 0, pairs.retryCount(),
                pairs.rnrRetry())));
        RdmaCmEvent made = await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        VerbsListener.setRnrTimer(verbs, link, pairs);
        return verbs.parameters(made).privateData();
    }

    private RdmaCmEvent await(EventType wanted) throws IOException {
        RdmaCmEvent event = channel.getCmEvent((int) config.timeout().toMillis());
        if (event == null) {
            throw new IOException("rdma_cm: no " + wanted + " in time");
        }
        EventType type = EventType.values()[event.getEvent()];
        if (type == EventType.RDMA_CM_EVENT_REJECTED) {
            throw rejected(verbs.parameters(event).privateData(), event.getStatus());
        }
        if (type != wanted) {
            throw new IOException("rdma_cm: " + type + " with status " + event.getStatus()
                    + " in place of " + wanted);
        }
        return event;
    }

    private static IOException rejected(ByteBuffer said, int status) throws MessageException {
        Message message = said.hasRemaining() ? MessageCodec.decode(said) : null;
        return message instanceof Refused(var reason)
                ? new RefusedException(reason)
                : new IOException("nobody accepts the connection, status " + status);
    }

    Adapter adapter() {
        return adapter;
    }

    /** What the gateway said as it accepted. */
    ByteBuffer accepted() {
        return accepted.duplicate();
    }

    /** Sends a message, from its position to its limit; it does not change any more. Any thread. */
    void send(ByteBuffer message) {
        rail.poller().execute(() -> link.send(new MessageSend(link, message)));
    }

    /** Breaks the connection; completes when nothing can touch this side's memory any more. */
    private CompletableFuture<Void> destroy() {
        CompletableFuture<Void> destroyed = new CompletableFuture<>();
        loop.execute(() -> {
            @Nullable
            IOException failure = Adapter.tryRun(null, () -> {
                int _ = id.disconnect();
            });
            failure = Adapter.tryRun(failure, id::destroyQP);
            failure = Adapter.tryRun(failure, id::destroyId);
            if (failure == null) {
                destroyed.complete(null);
            } else {
                destroyed.completeExceptionally(failure);
            }
        });
        return destroyed;
    }

    /** Returns when nothing of the connection is left but the adapter. */
    private void takeApart() {
        destroy().orTimeout(config.timeout().toNanos(), TimeUnit.NANOSECONDS).join();
        CompletableFuture<Void> gone = new CompletableFuture<>();
        rail.poller().execute(() -> {
            link.gone();
            gone.complete(null);
        });
        gone.join();
        loop.close();
        rail.close();
        link.memory().close();
    }

    /**
     * Breaks the connection and closes everything.
     *
     * @param beforeDevice runs when nothing can touch this side's memory any more, and before the
     *            device is closed
     */
    void close(Runnable beforeDevice) {
        takeApart();
        beforeDevice.run();
        adapter.close();
    }

    @Override
    public void close() {
        close(() -> {});
    }

    /** Hears that the gateway has gone. */
    private final class Watch implements CmLoop.Listener {

        @Override
        public void event(RdmaCmEvent event) {
            if (EventType.values()[event.getEvent()] == EventType.RDMA_CM_EVENT_DISCONNECTED) {
                rail.poller().execute(() -> link.fail(
                        EndReason.PEER_GONE,
                        "the gateway disconnected"));
            }
        }

        @Override
        public void tick() {
            // Nothing but connections is watched.
        }
    }
}
