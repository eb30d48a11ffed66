package io.railhead.gateway.config;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendConfig.Fetches;
import io.railhead.backend.BackendConfig.Proxy;
import io.railhead.backend.BackendConfig.TrailerPolicy;
import io.railhead.backend.Rate;
import io.railhead.gateway.config.GatewayConfig.Store;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads {@code backends:}. */
final class StoreLoader {
    static final int MAX_CONNECTIONS = 256;
    private static final int MAX_PORT = 65_535;
    private static final Map<String, Boolean> PATH_STYLE = new TreeMap<>(Map.of(
            "path", true,
            "virtual", false));

    private static final Map<String, TrailerPolicy> TRAILERS = new TreeMap<>(Map.of(
            "auto", TrailerPolicy.AUTO,
            "forward", TrailerPolicy.FORWARD,
            "drop", TrailerPolicy.DROP));

    private final Path folder;

    StoreLoader(Path folder) {
        this.folder = folder;
    }

    Map<String, Store> load(Section root) throws ConfigException {
        Map<String, Store> stores = new LinkedHashMap<>();
        for (Map.Entry<String, Section> entry : root.sections("backends").entrySet()) {
            stores.put(entry.getKey(), store(entry.getKey(), entry.getValue()));
        }
        if (stores.isEmpty()) {
            throw root.missing("backends", "is missing; name at least one store");
        }
        return stores;
    }

    private Store store(String name, Section section) throws ConfigException {
        String ca = section.text("ca");
        int connections = section.count("max_connections", MAX_CONNECTIONS, 1, 65_536);
        BackendConfig backend = new BackendConfig(
                name,
                endpoints(section),
                section.text("region", "us-east-1"),
                ca == null ? null : ConfigLoader.existing(folder, section, "ca", ca),
                section.choice("addressing", "path", PATH_STYLE),
                section.timeout("connect_timeout", "3s"),
                section.timeout("answer_timeout", "30s"),
                section.timeout("idle_timeout", "10s"),
                connections,
                section.count("max_attempts", 3, 1, 10),
                section.choice("trailers", "auto", TRAILERS),
                fetches(section, connections), proxy(section), rate(section.section("rate")));
        Store store = new Store(backend, section.text("probe_bucket"));
        section.close();
        return store;
    }

    private static Rate rate(Section section) throws ConfigException {
        Rate rate = TenantLoader.rate(section, Rate.NONE);
        section.close();
        return new Rate(rate.requests(), rate.bytes());
    }

    /** Returns the proxy. Messages never repeat its password, not even a malformed one. */
    private static @Nullable Proxy proxy(Section section) throws ConfigException {
        String text = section.text("proxy");
        if (text == null) {
            return null;
        }
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw notAProxy(section);
        }
        String path = uri.getRawPath();
        if (!"http".equals(uri.getScheme()) || uri.getHost() == null || uri.getPort() <= 0
                || uri.getPort() > MAX_PORT || uri.getQuery() != null || uri.getFragment() != null
                || (path != null && !path.isEmpty() && !path.equals("/"))) {
            throw notAProxy(section);
        }
        String host = uri.getHost().replaceAll("[\\[\\]]", "");
        String login = uri.getUserInfo();
        if (login == null) {
            return new Proxy(host, uri.getPort(), null, null);
        }
        int colon = login.indexOf(':');
        if (colon <= 0 || colon == login.length() - 1) {
            throw section.problem("proxy", "must name both user and password, or neither");
        }
        return new Proxy(host, uri.getPort(), login.substring(0, colon),
                login.substring(colon + 1));
    }

    private static ConfigException notAProxy(Section section) {
        return section.problem("proxy", "must be scheme, host and port, such as"
                + " http://proxy.example:3128, or http://user:password@proxy.example:3128");
    }

    private static Fetches fetches(Section section, int connections) throws ConfigException {
        Fetches usual = Fetches.of(connections);
        int most = section.count("max_fetches", usual.most(), 1, 65_536);
        int least = section.count("min_fetches", Math.min(usual.least(), most), 1, 65_536);
        if (most > connections) {
            throw section.problem("max_fetches",
                    "must not exceed max_connections of " + connections + ": " + most);
        }
        if (least > most) {
            throw section.problem("min_fetches",
                    "must not exceed max_fetches of " + most + ": " + least);
        }
        return new Fetches(least, most);
    }

    private static List<URI> endpoints(Section section) throws ConfigException {
        List<URI> endpoints = new ArrayList<>();
        for (String text : section.texts("endpoints")) {
            URI endpoint = endpoint(section, text);
            if (endpoints.contains(endpoint)) {
                throw section.problem("endpoints", "'" + text + "' appears twice");
            }
            endpoints.add(endpoint);
        }
        if (endpoints.isEmpty()) {
            throw section.missing("endpoints", "needs at least one, such as http://10.0.0.5:8080");
        }
        return endpoints;
    }

    private static URI endpoint(Section section, String text) throws ConfigException {
        try {
            URI uri = new URI(text);
            String path = uri.getPath();
            boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            boolean port = uri.getPort() != 0 && uri.getPort() <= MAX_PORT;
            if (http && port && uri.getHost() != null && uri.getUserInfo() == null
                    && uri.getQuery() == null && uri.getFragment() == null && path != null
                    && (path.isEmpty() || path.equals("/"))) {
                return new URI(uri.getScheme(), null, uri.getHost(), uri.getPort(), null, null,
                        null);
            }
        } catch (URISyntaxException e) {
            throw notAnEndpoint(section, text);
        }
        throw notAnEndpoint(section, text);
    }

    private static ConfigException notAnEndpoint(Section section, String text) {
        return section.problem("endpoints", "'" + text
                + "' is not scheme, host and port, such as http://10.0.0.5:8080");
    }
}
