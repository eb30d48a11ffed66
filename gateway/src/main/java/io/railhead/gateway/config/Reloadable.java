package io.railhead.gateway.config;

import java.util.List;

/** The keys whose change takes effect while the gateway runs; every other one needs a restart. */
final class Reloadable {
    /**
     * The chart's checksum of keys that need a restart excludes the same ones; a test compares
     * them.
     */
    private static final List<String> SECTIONS = List.of("backends", "rules", "gateway.admission",
            "tracing", "log.level", "accounting.prices");

    private Reloadable() {}

    /** @param key as in messages, such as {@code rules[0].bucket} */
    static boolean is(String key) {
        return SECTIONS.stream()
                .anyMatch(section -> key.startsWith(section) && (key.length() == section.length()
                        || ".[".indexOf(key.charAt(section.length())) >= 0));
    }
}
