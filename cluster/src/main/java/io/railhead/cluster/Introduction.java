package io.railhead.cluster;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A member's word of itself, which it repeats: one may be lost, or come before the other has its
 * view.
 *
 * @param address of the member; null from one that gives none
 * @param fills where it answers fills; null if it shares nothing out
 * @param endpoint the URL for clients; null until it serves them
 * @param isLeaving whether it owns nothing any more, and is about to go
 * @param facts what placement depends on, by key
 */
record Introduction(@Nullable String address, ClusterConfig.@Nullable Address fills,
        @Nullable String endpoint, boolean isLeaving, Map<String, String> facts) {
    /** Keys that no fact has. */
    private static final String ADDRESS = "cluster.listen";
    private static final String FILLS = "cluster.fills";
    private static final String ENDPOINT = "cluster.endpoint";
    private static final String LEAVING = "cluster.leaving";

    Introduction {
        facts = Map.copyOf(facts);
    }

    /** The introduction of a member that does not serve clients yet. */
    static Introduction of(ClusterConfig config) {
        return new Introduction(Completeness.numeric(config.listen()), config.fills(), null,
                false, config.facts());
    }

    /** @throws IllegalArgumentException for an address that is none */
    static Introduction of(Frame.Introduction said) {
        Map<String, String> facts = new TreeMap<>(said.facts());
        String address = facts.remove(ADDRESS);
        String fills = facts.remove(FILLS);
        String endpoint = facts.remove(ENDPOINT);
        boolean isLeaving = facts.remove(LEAVING) != null;
        return new Introduction(address, fills == null ? null : ClusterConfig.Address.of(fills),
                endpoint, isLeaving, facts);
    }

    Introduction servingAt(String url) {
        return new Introduction(address, fills, url, isLeaving, facts);
    }

    Introduction leaving() {
        return new Introduction(address, fills, endpoint, true, facts);
    }

    Frame frame() {
        Map<String, String> said = new TreeMap<>(facts);
        putIfKnown(said, ADDRESS, address);
        putIfKnown(said, FILLS, fills);
        putIfKnown(said, ENDPOINT, endpoint);
        putIfKnown(said, LEAVING, isLeaving ? "true" : null);
        return new Frame.Introduction(said);
    }

    private static void putIfKnown(Map<String, String> said, String key, @Nullable Object value) {
        if (value != null) {
            said.put(key, value.toString());
        }
    }
}
