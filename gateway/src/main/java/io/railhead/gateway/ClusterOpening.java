package io.railhead.gateway;

import io.railhead.cluster.Cluster;
import io.railhead.cluster.ClusterConfig;
import io.railhead.cluster.JGroupsLink;
import io.railhead.cluster.Link;
import io.railhead.cluster.MemberKeys;
import io.railhead.cluster.Ownership;
import io.railhead.gateway.cluster.ClusterPeers;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.ListenAddress;
import io.vertx.core.Vertx;
import io.vertx.core.net.ServerSSLOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
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

    private ClusterConfig.@Nullable Address fills() {
        ListenAddress fills = cluster.fills();
        return fills == null ? null : here("cluster.fills", fills);
    }

    /** Returns the one address that others connect to; any stands for that of this host's name. */
    private static ClusterConfig.Address here(String key, ListenAddress listen) {
        if (!listen.isAny()) {
            return address(listen);
        }
        try {
            InetAddress own = InetAddress.getLocalHost();
            if (!own.isLoopbackAddress()) {
                return new ClusterConfig.Address(own.getHostAddress(), listen.port());
            }
        } catch (UnknownHostException e) {
            LOG.debug("no address of this host's name", e);
        }
        throw new IllegalArgumentException(key + ": " + listen + " stands for the address"
                + " of this host's name, and there is none that others could connect to; write"
                + " the address");
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
