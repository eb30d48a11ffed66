package io.railhead.gateway.config;

import java.util.List;

/** Keys whose change is put in force while the gateway runs; every other one needs a restart. */
final class Reloadable {
    /** The chart's checksum of what needs a restart leaves out the same (a test holds it). */
    private static final List<String> SECTIONS = List.of("backends", "rules", "gateway.admission",
            "tracing", "log.level");

    private Reloadable() {}

    /** @param key as messages name it, as {@code rules[0].bucket} */
    static boolean is(String key) {
        return SECTIONS.stream()
                .anyMatch(section -> key.startsWith(section) && (key.length() == section.length()
                        || ".[".indexOf(key.charAt(section.length())) >= 0));
    }
}
