package io.railhead.gateway;

import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.rdma.session.FabricAddress;
import io.railhead.gateway.rdma.session.FabricDirectory;
import io.railhead.protocol.placement.Ownership;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.Fabrics;
import io.railhead.rdma.Health;
import io.railhead.rdma.UnavailableFabric;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.loopback.LoopbackConfig;
import io.railhead.rdma.loopback.LoopbackFabric;
import io.railhead.rdma.session.ClientSessions;
import io.vertx.core.json.JsonObject;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the configured fabrics, and knows how peers reach them. */
final class FabricOpening {
    private static final Logger LOG = LoggerFactory.getLogger(FabricOpening.class);

    private final GatewayConfig config;
    private final UnaryOperator<Fabric> between;
    private final Supplier<Map<String, String>> members;
    private final Fabric loopback;
    private final VerbsOpening verbs;
    private final DcOpening dc;

    /**
     * Opens the fabrics, which the caller must close; if one cannot be opened, none stays open.
     *
     * @param members the URLs of the cluster's owners, by name; empty if nothing is shared out
     */
    FabricOpening(GatewayConfig config, ClientSessions clientSessions, RequestHandler requests,
            Environment environment, boolean severalTenants,
            Supplier<Map<String, String>> members) {
        this.config = config;
        this.members = members;
        between = environment.fabrics();
        loopback = openLoopback(clientSessions, requests);
        try {
            verbs = new VerbsOpening(config.rdma(), clientSessions, requests);
        } catch (RuntimeException | Error e) {
            loopback.close();
            throw e;
        }
        try {
            dc = new DcOpening(config, environment.machine(), clientSessions, severalTenants);
        } catch (RuntimeException | Error e) {
            verbs.fabric().close();
            loopback.close();
            throw e;
        }
    }

    private Fabric openLoopback(ClientSessions clientSessions, RequestHandler requests) {
        GatewayConfig.Loopback settings = config.rdma().loopback();
        if (!settings.enabled()) {
            return off("switched off by rdma.loopback.enabled");
        }
        try {
            requireSocketFolder(settings);
            return new LoopbackFabric(loopbackConfig(), clientSessions, requests);
        } catch (IllegalArgumentException | UncheckedIOException e) {
            if (settings.named()) {
                throw e;
            }
            LOG.warn("loopback is off: {}", e.getMessage());
            return off(String.valueOf(e.getMessage()));
        }
    }

    private static Fabric off(String reason) {
        return new UnavailableFabric(LoopbackFabric.NAME, reason);
    }

    /** Returns why a fabric without configuration is off; null if it is on. */
    static @Nullable String reasonAgainst(GatewayConfig.Loopback loopback) {
        try {
            requireSocketFolder(loopback);
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    /** Throws if a configured fabric is not available. */
    static void requireNamed(GatewayConfig.Loopback loopback) {
        if (loopback.enabled() && loopback.named()) {
            requireSocketFolder(loopback);
        }
    }

    private static void requireSocketFolder(GatewayConfig.Loopback loopback) {
        Path folder = loopback.socket().toAbsolutePath().getParent();
        if (folder == null || !Files.isWritable(folder)) {
            throw new IllegalArgumentException("rdma.loopback.socket: " + folder
                    + " is not a folder that can be written to; make it, or name another socket, or"
                    + " set rdma.loopback.enabled: false");
        }
    }

    private LoopbackConfig loopbackConfig() {
        GatewayConfig.Channel channel = config.rdma().channel();
        LoopbackConfig loopback = LoopbackConfig.at(config.rdma().loopback().socket())
                .with(channel.maxRequests(), channel.keepAlive());
        return config.rdma().loopback().crossMemory() ? loopback.withCrossMemory() : loopback;
    }

    Fabrics fabrics() {
        return new Fabrics(Stream.of(loopback, verbs.fabric(), dc.fabric()).map(between).toList());
    }

    DcOpening dc() {
        return dc;
    }

    /** Returns the fabric for connections over RDMA adapters. */
    Fabric verbs() {
        return verbs.fabric();
    }

    /** Returns the directory of fabrics for peers, disabled ones included. */
    FabricDirectory endpoints() {
        return new FabricDirectory(HexFormat.of().toHexDigits(new SecureRandom().nextLong()),
                config.gateway().name(), withSessions(), this::placement);
    }

    private JsonObject placement() {
        JsonObject endpoints = new JsonObject();
        members.get().forEach(endpoints::put);
        return endpoints.isEmpty()
                ? endpoints
                : new JsonObject().put("rule", Ownership.VERSION)
                        .put("run", config.cache().run().bytes())
                        .put("members", endpoints);
    }

    private List<FabricAddress> withSessions() {
        var limits = loopbackConfig().limits();
        FabricAddress.Reach socket = new FabricAddress.Reach.Socket(
                config.rdma().loopback().socket());
        return List.of(new FabricAddress(loopback, socket, limits),
                new FabricAddress(verbs.fabric(), verbs.reach(), limits));
    }

    /** Describes each fabric's state for an operator. */
    String inWords() {
        Health ofDc = dc.fabric().health();
        return withSessions().stream().map(FabricAddress::inWords).collect(Collectors.joining("; "))
                + "; dc" + (ofDc.usable() ? "" : " not available: " + ofDc.reason());
    }
}
