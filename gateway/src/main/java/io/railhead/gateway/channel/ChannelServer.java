package io.railhead.gateway.channel;

import io.railhead.gateway.metrics.Metrics;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestView;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.channel.RequestHandler;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Serves the requests of all native channels. Fabrics hold this object before the gateway can
 * serve. Every request is declined until {@link #open}, and again from {@link #drain} on.
 */
public final class ChannelServer implements RequestHandler {
    private static final long POLL_MILLIS = 5;

    private final VertxInternal vertx;
    private final Metrics metrics;
    private final ChannelLogs logs;
    private final Map<RequestChannel, PeerRequests> peers = new ConcurrentHashMap<>();
    /** The counters by the fabric's name. */
    private final Map<String, ChannelCounts> counts = new ConcurrentHashMap<>();
    private volatile @Nullable ChannelServices opened;

    public ChannelServer(Vertx vertx, Metrics metrics, ChannelLogs logs) {
        this.vertx = (VertxInternal) vertx;
        this.metrics = metrics;
        this.logs = logs;
    }

    /** Starts serving. */
    public void open(ChannelServices services) {
        opened = services;
    }

    /** Forgets the cached routes after backends or rules have changed. Any thread. */
    public void rerouted() {
        peers.values().forEach(PeerRequests::forgetNames);
    }

    @Override
    public void handle(RequestView request, RequestChannel channel) {
        ChannelServices with = opened;
        if (with == null) {
            decline(request, channel, "draining");
            return;
        }
        PeerRequests peer = peers.get(channel);
        if (peer == null) {
            peer = meet(channel, with);
        }
        if (peer == null) {
            decline(request, channel, "session");
            return;
        }
        PeerRequests current = peer.isCallerStill() ? peer : renewed(peer, channel, with);
        if (current == null) {
            channel.session().end(EndReason.REVOKED);
        } else {
            current.handle(request);
        }
    }

    /** Returns what serves in the name of newer credentials; null if none are in force. */
    private @Nullable PeerRequests renewed(PeerRequests peer, RequestChannel channel,
            ChannelServices with) {
        SessionCallers.Caller newer = with.callers().find(channel.session().id());
        if (newer == null) {
            return null;
        }
        PeerRequests renewed = peer.renewedBy(newer);
        if (!renewed.isCallerStill()) {
            return null;
        }
        peers.put(channel, renewed);
        return renewed;
    }

    private void decline(RequestView request, RequestChannel channel, String reason) {
        metrics.rdmaDeclined.labels(reason).inc();
        channel.answer(Answer.declined(request.id(), reason));
    }

    /**
     * Registers a channel at its first request; channels are spread over the event loops in turn.
     */
    private @Nullable PeerRequests meet(RequestChannel channel, ChannelServices with) {
        SessionCallers.Caller caller = with.callers().find(channel.session().id());
        if (caller == null) {
            return null;
        }
        PeerRequests peer = new PeerRequests(with, channel, caller,
                vertx.createEventLoopContext(),
                counts.computeIfAbsent(channel.session().fabric(),
                        fabric -> new ChannelCounts(metrics, fabric)),
                logs);
        peers.put(channel, peer);
        return peer;
    }

    @Override
    public void cancel(int requestId, RequestChannel channel) {
        PeerRequests peer = peers.get(channel);
        if (peer != null) {
            peer.cancel(requestId);
        }
    }

    @Override
    public void ended(RequestChannel channel) {
        PeerRequests peer = peers.remove(channel);
        if (peer != null) {
            peer.end();
        }
    }

    /** Takes no more requests, and waits for those under way, at most so long. Blocks. */
    public void drain(Duration atMost) throws InterruptedException {
        opened = null;
        peers.values().forEach(peer -> peer.endWaits("draining"));
        long deadline = System.nanoTime() + atMost.toNanos();
        while (outstanding() > 0 && System.nanoTime() - deadline < 0) {
            Thread.sleep(POLL_MILLIS);
        }
    }

    private int outstanding() {
        return peers.values().stream().mapToInt(PeerRequests::outstanding).sum();
    }
}
