package io.railhead.gateway;

import io.railhead.gateway.config.DcAdapters;
import io.railhead.gateway.config.DcConfig;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.frontdoor.CleartextPolicy;
import io.railhead.gateway.rdma.session.DcKeyFile;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.VerbsProvider;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.ReopeningFabric;
import io.railhead.rdma.UnavailableFabric;
import io.railhead.rdma.dc.DcFabric;
import io.railhead.rdma.dc.DcFabricConfig;
import io.railhead.rdma.dc.DcKey;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the fabric for tokens with an adapter's GID, on one mlx5 adapter. A gateway starts without
 * it, and finds an adapter that comes later.
 */
final class DcOpening {
    private static final Logger LOG = LoggerFactory.getLogger(DcOpening.class);
    private static final Duration LOOK_AT_ADAPTERS = Duration.ofSeconds(5);

    private final GatewayConfig config;
    private final DcConfig dc;
    private final DcKey key;
    private final Machine machine;
    private final Fabric fabric;

    /** The machine with its adapters. */
    interface Machine {

        List<RdmaDevice> devices();

        Fabric open(DcFabricConfig config, ClientSessions clientSessions)
                throws IOException;
    }

    /** The machine that this process runs on. */
    static final Machine THIS_ONE = new Machine() {
        @Override
        public List<RdmaDevice> devices() {
            return RdmaDevices.read();
        }

        @Override
        public Fabric open(DcFabricConfig config, ClientSessions clientSessions)
                throws IOException {
            return DcFabric.open(config, VerbsProvider.install(), clientSessions);
        }
    };

    /** Throws one line if the key cannot be read, or cannot be used by several tenants. */
    DcOpening(GatewayConfig config, Machine machine, ClientSessions clientSessions,
            boolean severalTenants) {
        this.config = config;
        this.dc = config.rdma().dc();
        this.machine = machine;
        if (!dc.enabled()) {
            key = DcKey.WELL_KNOWN;
            fabric = new UnavailableFabric(DcFabric.NAME, "switched off by rdma.dc.enabled");
            return;
        }
        key = DcKeyFile.read(dc);
        DcKeyFile.require(dc, key, severalTenants);
        if (key.isWellKnown()) {
            LOG.warn("dc: the well-known DC key is used, which everybody knows;"
                    + " rdma.dc.key_file names a file with one of the site's own");
        }
        fabric = new ReopeningFabric<>(DcFabric.NAME, this::ports, new AtFirstGood(clientSessions),
                LOOK_AT_ADAPTERS);
    }

    /** Opens the first port that works; changes of other ports do not matter. */
    private final class AtFirstGood implements ReopeningFabric.Opener<List<DcFabricConfig>> {
        private final ClientSessions clientSessions;
        private volatile @Nullable DcFabricConfig opened;

        AtFirstGood(ClientSessions clientSessions) {
            this.clientSessions = clientSessions;
        }

        @Override
        public Fabric open(List<DcFabricConfig> ports) throws IOException {
            return DcOpening.this.open(ports, clientSessions, port -> opened = port);
        }

        @Override
        public boolean isStillAt(List<DcFabricConfig> ports) {
            return ports.contains(opened);
        }
    }

    /** Returns the fabric, which the caller must close. */
    Fabric fabric() {
        return fabric;
    }

    private List<DcFabricConfig> ports() {
        VerbsProvider.releaseRemoved();
        return DcAdapters.choose(config.rdma(), machine.devices(), key, null);
    }

    private Fabric open(List<DcFabricConfig> ports, ClientSessions clientSessions,
            Consumer<DcFabricConfig> onOpened) throws IOException {
        List<String> reasons = new ArrayList<>();
        for (DcFabricConfig port : ports) {
            try {
                Fabric opened = machine.open(port, clientSessions);
                onOpened.accept(port);
                return opened;
            } catch (IOException | RuntimeException | LinkageError e) {
                reasons.add(String.valueOf(e.getMessage()));
            }
        }
        if (!reasons.isEmpty()) {
            throw new IOException(String.join("; ", reasons));
        }
        String reason = "no RDMA adapter can be used; railhead doctor says why";
        LOG.warn("dc: {}", reason);
        return new UnavailableFabric(DcFabric.NAME, reason);
    }

    /**
     * Returns why such tokens are declined now; null if they are served. Any thread.
     *
     * @param severalTenants whether the credentials in force now are of several tenants
     */
    Supplier<@Nullable String> reasonAgainst(BooleanSupplier severalTenants) {
        return () -> reasonAgainst(severalTenants.getAsBoolean());
    }

    private @Nullable String reasonAgainst(boolean severalTenants) {
        if (CleartextPolicy.reasonAgainst(config, severalTenants) != null) {
            return "cleartext";
        }
        return DcKeyFile.reasonAgainst(dc, key, severalTenants) != null ? "dc_key" : null;
    }
}
