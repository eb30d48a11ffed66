package io.railhead.gateway;

import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.VerbsConfig;
import io.railhead.gateway.rdma.session.FabricAddress;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.VerbsProvider;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.ReopeningFabric;
import io.railhead.rdma.UnavailableFabric;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.verbs.VerbsFabric;
import io.railhead.rdma.verbs.VerbsFabricConfig;
import io.railhead.rdma.verbs.VerbsFabricConfig.OutstandingBytes;
import io.railhead.rdma.verbs.VerbsFabricConfig.Pairs;
import io.railhead.rdma.verbs.VerbsFabricConfig.Peers;
import io.railhead.rdma.verbs.VerbsFabricConfig.Polling;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the fabric of the configured RDMA adapters. A gateway starts without it, and finds adapters
 * or addresses that come or change later.
 */
final class VerbsOpening {
    private static final Logger LOG = LoggerFactory.getLogger(VerbsOpening.class);
    private static final Duration PROOF_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration FENCE_GRACE = Duration.ofMillis(500);
    private static final int MAX_UNPROVEN = 16;
    private static final int MAX_BUFFERS = 1024;
    private static final int SIGNAL_EVERY = 16;
    private static final int SCATTER_ENTRIES = 16;
    private static final int COMPLETIONS = 1 << 16;

    private static final Duration LOOK_AT_ADAPTERS = Duration.ofSeconds(5);

    private final GatewayConfig.Rdma rdma;
    private final Fabric fabric;
    private final Supplier<List<String>> addresses;

    VerbsOpening(GatewayConfig.Rdma rdma, ClientSessions clientSessions, RequestHandler requests) {
        this.rdma = rdma;
        if (rdma.verbs().enabled()) {
            ReopeningFabric<List<String>> reopening = new ReopeningFabric<>(VerbsFabric.NAME,
                    this::choose, chosen -> open(chosen, clientSessions, requests),
                    LOOK_AT_ADAPTERS);
            fabric = reopening;
            addresses = reopening::place;
        } else {
            fabric = new UnavailableFabric(VerbsFabric.NAME,
                    "switched off by rdma.verbs.enabled");
            addresses = List::of;
        }
    }

    /** Returns the fabric, which the caller must close. */
    Fabric fabric() {
        return fabric;
    }

    /** Returns where peers connect, with the adapters' current addresses. */
    FabricAddress.Reach.Network reach() {
        List<String> advertised = rdma.advertise().addresses();
        int port = rdma.advertise().port() == 0
                ? rdma.verbs().listening().port()
                : rdma.advertise().port();
        return new FabricAddress.Reach.Network(advertised.isEmpty() ? addresses : () -> advertised,
                () -> port, maxPathMtu(rdma.verbs()));
    }

    /** Returns the addresses of the chosen adapters that exist now; reads sysfs. */
    private List<String> choose() {
        VerbsProvider.releaseRemoved();
        return Adapters.choose(rdma, RdmaDevices.read())
                .stream()
                .flatMap(choice -> choice instanceof GidChoice.Chosen(var _, var _, var gid)
                        ? Stream.of(gid.address().getHostAddress())
                        : Stream.empty())
                .distinct()
                .toList();
    }

    private Fabric open(List<String> addresses, ClientSessions clientSessions,
            RequestHandler requests)
            throws IOException {
        if (addresses.isEmpty()) {
            String reason = "no RDMA adapter can be used; railhead doctor says why";
            LOG.warn("verbs: {}", reason);
            return new UnavailableFabric(VerbsFabric.NAME, reason);
        }
        Fabric opened = new VerbsFabric(config(rdma, addresses), clientSessions, requests);
        LOG.info("verbs: listening on {} port {}", addresses, rdma.verbs().listening().port());
        return opened;
    }

    /**
     * Returns the largest payload of a packet, which peers are told, since both ends must agree.
     */
    private static int maxPathMtu(VerbsConfig verbs) {
        Integer configured = verbs.connection().mtu();
        return configured == null ? QueuePairConfig.LONGEST_PATH_MTU : configured;
    }

    private static VerbsFabricConfig config(GatewayConfig.Rdma rdma,
            List<String> addresses) {
        VerbsConfig verbs = rdma.verbs();
        VerbsConfig.Connection connection = verbs.connection();
        VerbsConfig.Outstanding outstanding = verbs.outstanding();
        int port = verbs.listening().port();
        return new VerbsFabricConfig(
                addresses.stream().map(address -> new InetSocketAddress(address, port)).toList(),
                Adapters.wanted(rdma),
                new QueuePairConfig(verbs.queues().sendDepth(), SIGNAL_EVERY, SCATTER_ENTRIES,
                        verbs.queues().readDepth(), connection.ackTimeout(),
                        connection.retryCount(), connection.rnrRetry(), connection.minRnrTimer(),
                        connection.trafficClass() == 0
                                ? OptionalInt.empty()
                                : OptionalInt.of(connection.trafficClass()),
                        connection.serviceLevel() == null
                                ? OptionalInt.empty()
                                : OptionalInt.of(connection.serviceLevel()),
                        maxPathMtu(verbs)),
                new Polling(verbs.polling().pollers(), verbs.polling().spin(), COMPLETIONS),
                new Peers(PROOF_TIMEOUT, MAX_UNPROVEN, MAX_BUFFERS, rdma.channel().maxRequests(),
                        rdma.channel().keepAlive(), FENCE_GRACE),
                new OutstandingBytes(outstanding.queuePair().bytes(),
                        outstanding.principal().bytes(), outstanding.port().bytes()),
                new Pairs(rdma.pairs().idle(), rdma.pairs().staging().bytes()));
    }
}
