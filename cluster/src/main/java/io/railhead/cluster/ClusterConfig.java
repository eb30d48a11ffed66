package io.railhead.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The settings of one member.
 *
 * @param cluster the name that all members share
 * @param member the name of this gateway
 * @param facts what placement depends on, by key; members compare them
 */
public record ClusterConfig(String cluster, String member, Address listen, Discovery discovery,
        Duration lease, Map<String, String> facts) {

    public ClusterConfig {
        facts = Map.copyOf(facts);
        if (lease.toMillis() < 1) {
            throw new IllegalArgumentException("lease must be >= 1 ms: " + lease);
        }
    }

    /** A host and its port. */
    public record Address(String host, int port) {}

    /** The way to find the other members. */
    public sealed interface Discovery {

        /** A list, which may name this gateway too. */
        record Fixed(List<Address> members) implements Discovery {
            public Fixed {
                members = List.copyOf(members);
            }
        }

        /** A name whose addresses are the members', such as that of a headless service. */
        record Dns(String name) implements Discovery {}
    }
}
