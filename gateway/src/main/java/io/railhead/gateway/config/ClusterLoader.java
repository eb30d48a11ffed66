package io.railhead.gateway.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads {@code cluster:}. */
final class ClusterLoader {
    /** Stands for {@code gateway.name} in {@code cluster.endpoint}, for one file of all members. */
    private static final String NAME = "{name}";

    private final Path folder;

    ClusterLoader(Path folder) {
        this.folder = folder;
    }

    /** Returns null if the section is absent: this gateway is then a cache of its own. */
    GatewayConfig.@Nullable Cluster load(Section root, GatewayConfig.Gateway gateway)
            throws ConfigException {
        if (!root.has("cluster")) {
            return null;
        }
        Section section = root.section("cluster");
        GatewayConfig.Cluster cluster = new GatewayConfig.Cluster(
                section.text("name", "railhead"),
                section.value("listen", "", ClusterLoader::port),
                members(section), section.text("dns"), fills(section),
                endpoint(section, gateway.name()),
                new TlsLoader(folder).load(section, "tls"));
        section.close();
        if (cluster.members().isEmpty() == (cluster.dns() == null)) {
            throw section.problem("members", "is needed, a list of all gateways' cluster.listen,"
                    + " or else cluster.dns, a name that has all their addresses; not both");
        }
        requireKeys(section, cluster);
        if (cluster.endpoint() != null && cluster.fills() == null) {
            throw section.problem("endpoint",
                    "is of no use without cluster.fills: nothing is shared"
                            + " out, so clients are sent nowhere");
        }
        if (gateway.sole()) {
            throw root.problem("gateway.sole", "cannot be true with cluster: several gateways"
                    + " write, so exclusive is not offered; use bounded");
        }
        return cluster;
    }

    private static void requireKeys(Section section, GatewayConfig.Cluster cluster)
            throws ConfigException {
        GatewayConfig.Tls tls = cluster.tls();
        ListenAddress fills = cluster.fills();
        boolean here = cluster.listen().isOfThisHost() && (fills == null || fills.isOfThisHost());
        if (tls == null && !here) {
            throw section.missing("tls", "is missing; without certificates anybody on the network"
                    + " could join, so only an address of 127.0.0.0/8 may do without");
        }
        if (tls != null && tls.clientCa() == null) {
            throw section.problem("tls.client_ca",
                    "is missing; it names the authority of all members' certificates");
        }
    }

    private static @Nullable ListenAddress fills(Section section) throws ConfigException {
        String text = section.text("fills");
        if (text == null) {
            return null;
        }
        try {
            return port(text);
        } catch (IllegalArgumentException e) {
            throw section.problem("fills", String.valueOf(e.getMessage()));
        }
    }

    private static @Nullable String endpoint(Section section, String name) throws ConfigException {
        String text = section.text("endpoint");
        if (text == null) {
            return null;
        }
        String endpoint = text.replace(NAME, name);
        try {
            URI uri = new URI(endpoint);
            boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (isHttp && uri.getHost() != null && uri.getUserInfo() == null
                    && uri.getPath().isEmpty() && uri.getQuery() == null
                    && uri.getFragment() == null) {
                return endpoint;
            }
        } catch (URISyntaxException _) {
            // Told as any other text that is no address.
        }
        throw section.problem("endpoint", "'" + endpoint + "' is not an address such as"
                + " https://{name}.rack1.example:9000, where {name} stands for gateway.name");
    }

    private static ListenAddress port(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(
                    "is missing; the others connect to it, as in 10.0.0.1:7800");
        }
        ListenAddress address = ListenAddress.parse(text);
        if (address.port() == 0) {
            throw new IllegalArgumentException("'" + text + "' needs a port");
        }
        return address;
    }

    private static ListenAddress member(String text) {
        ListenAddress address = port(text);
        if (address.isAny()) {
            throw new IllegalArgumentException("'" + text + "' is nobody's address");
        }
        return address;
    }

    private static List<ListenAddress> members(Section section) throws ConfigException {
        List<ListenAddress> members = new ArrayList<>();
        for (String each : section.texts("members")) {
            try {
                members.add(member(each));
            } catch (IllegalArgumentException e) {
                throw section.problem("members", String.valueOf(e.getMessage()));
            }
        }
        return members;
    }
}
