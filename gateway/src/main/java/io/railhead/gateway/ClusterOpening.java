package io.railhead.gateway;

import io.railhead.cluster.Cluster;
import io.railhead.cluster.ClusterConfig;
import io.railhead.cluster.JGroupsLink;
import io.railhead.cluster.Link;
import io.railhead.cluster.MemberKeys;
import io.railhead.gateway.cluster.ClusterPeers;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.ListenAddress;
import io.railhead.protocol.placement.Ownership;
import io.vertx.core.Vertx;
import io.vertx.core.net.ServerSSLOptions;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens a gateway's membership of a cluster. Nothing of it loads without one. */
final class ClusterOpening {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterOpening.class);
    /**
     * The time in which a member that cannot be heard still serves without asking, and for which a
     * write waits for it.
     */
    static final Duration LEASE = Duration.ofSeconds(2);
    /** An address for documents alone (RFC 5737), so that only the default route leads to it. */
    private static final String DOCUMENTATION = "192.0.2.1";

    private final GatewayConfig config;
    private final GatewayConfig.Cluster cluster;
    private final Environment environment;
    private final WatchedFiles files;
    private final Vertx vertx;

    ClusterOpening(GatewayConfig config, GatewayConfig.Cluster cluster, Environment environment,
            WatchedFiles files, Vertx vertx) {
        this.config = config;
        this.cluster = cluster;
        this.environment = environment;
        this.files = files;
        this.vertx = vertx;
    }

    /**
     * Returns a member that has not joined yet.
     *
     * @param closed takes the watch of the certificate, to be closed with the gateway
     */
    ClusterPeers open(Consumer<FileWatch> closed) {
        ClusterConfig member = new ClusterConfig(cluster.name(), config.gateway().name(),
                here("cluster.listen", cluster.listen()), discovery(), LEASE, facts(), fills());
        Link link = environment.links().apply(new JGroupsLink(member, keys(closed)));
        return new ClusterPeers(new Cluster(member, link, environment.nanoClock()));
    }

    /**
     * Returns the URL by which clients reach this gateway itself.
     *
     * @param port that the listener is bound to
     */
    String endpoint(int port) {
        String written = cluster.endpoint();
        if (written != null) {
            return written;
        }
        ListenAddress listen = config.gateway().listen();
        String host = listen.isAny()
                ? here("cluster.listen", cluster.listen()).host()
                : listen.host();
        return (config.gateway().tls() == null ? "http://" : "https://")
                + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    private ClusterConfig.@Nullable Address fills() {
        ListenAddress fills = cluster.fills();
        return fills == null ? null : here("cluster.fills", fills);
    }

    /**
     * Returns the one address that others connect to. Any stands for that of this host's name, or
     * else, as on many hosts whose own name is a loopback address, for that of the default route.
     *
     * @param key of the configuration, for the refusal
     */
    static ClusterConfig.Address here(String key, ListenAddress listen) {
        if (!listen.isAny()) {
            return address(listen);
        }
        InetAddress own = reachable(InetAddress::getLocalHost)
                .or(() -> reachable(ClusterOpening::ofTheDefaultRoute))
                .orElseThrow(() -> new IllegalArgumentException(key + ": " + listen
                        + " stands for the address of this host's name, or of its default route,"
                        + " and there is none that others could connect to; write the address"));
        return new ClusterConfig.Address(own.getHostAddress(), listen.port());
    }

    private static Optional<InetAddress> reachable(Callable<InetAddress> way) {
        try {
            InetAddress own = way.call();
            return own.isLoopbackAddress() || own.isAnyLocalAddress()
                    ? Optional.empty()
                    : Optional.of(own);
        } catch (Exception e) {
            LOG.debug("an address of this host cannot be found", e);
            return Optional.empty();
        }
    }

    /** Asks the kernel which address it would send from. Nothing is sent. */
    private static InetAddress ofTheDefaultRoute() throws SocketException, UnknownHostException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(InetAddress.getByName(DOCUMENTATION), 9);
            return socket.getLocalAddress();
        }
    }

    private static ClusterConfig.Address address(ListenAddress address) {
        return new ClusterConfig.Address(address.host(), address.port());
    }

    private ClusterConfig.Discovery discovery() {
        String dns = cluster.dns();
        return dns == null
                ? new ClusterConfig.Discovery.Fixed(
                        cluster.members().stream().map(ClusterOpening::address).toList())
                : new ClusterConfig.Discovery.Dns(dns);
    }

    /** Returns what members must agree on before they can share objects out. */
    private Map<String, String> facts() {
        Map<String, String> facts = new TreeMap<>();
        facts.put("cache.page", config.cache().page().toString());
        facts.put("cache.run", config.cache().run().toString());
        facts.put("placement", Ownership.VERSION);
        config.backends()
                .forEach((name, store) -> facts.put(ClusterConfig.BACKEND_FACT + name,
                        DiskOpening.identity(store.backend())));
        return facts;
    }

    private @Nullable MemberKeys keys(Consumer<FileWatch> closed) {
        GatewayConfig.Tls tls = cluster.tls();
        if (tls == null) {
            return null;
        }
        MemberKeys[] made = new MemberKeys[1];
        closed.accept(files.openClusterTls(tls, vertx, options -> {
            KeyManager[] keys = keys(options);
            TrustManager[] authorities = authorities(options);
            if (made[0] == null) {
                made[0] = new MemberKeys(keys, authorities);
            } else {
                made[0].replace(keys, authorities);
            }
        }));
        return made[0];
    }

    private KeyManager[] keys(ServerSSLOptions options) {
        try {
            return options.getKeyCertOptions().getKeyManagerFactory(vertx).getKeyManagers();
        } catch (Exception e) {
            throw new IllegalArgumentException("cluster.tls: is not usable: " + e.getMessage(), e);
        }
    }

    private TrustManager[] authorities(ServerSSLOptions options) {
        try {
            return options.getTrustOptions().getTrustManagerFactory(vertx).getTrustManagers();
        } catch (Exception e) {
            throw new IllegalArgumentException("cluster.tls: is not usable: " + e.getMessage(), e);
        }
    }
}
