package io.railhead.gateway.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * Proxy settings outside the configuration. The gateway ignores all of them, so an operator who has
 * set one should be told.
 */
public final class IgnoredProxies {
    private static final Set<String> VARIABLES = Set.of("http_proxy", "https_proxy", "all_proxy",
            "no_proxy");
    private static final Set<String> PROPERTIES = Set.of("http.proxyHost", "https.proxyHost",
            "http.nonProxyHosts", "socksProxyHost", "java.net.useSystemProxies");

    private IgnoredProxies() {}

    /**
     * Returns the names that are such settings, in order; properties in the form of a command line.
     */
    public static List<String> among(Collection<String> variables, Collection<String> properties) {
        Set<String> found = new TreeSet<>();
        variables.stream()
                .filter(name -> VARIABLES.contains(name.toLowerCase(Locale.ROOT)))
                .forEach(found::add);
        properties.stream()
                .filter(PROPERTIES::contains)
                .forEach(name -> found.add("-D" + name));
        return new ArrayList<>(found);
    }
}
