package io.railhead.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one member.
 *
 * @param cluster the name that all members share
 * @param member the name of this gateway
 * @param facts what placement depends on, by key; members compare them
 * @param fills where this member answers the others' fills; null if it shares nothing out
 */
public record ClusterConfig(String cluster, String member, Address listen, Discovery discovery,
        Duration lease, Map<String, String> facts, @Nullable Address fills) {
    /** Begins the key of a fact that concerns one backend alone, whose name follows. */
    public static final String BACKEND_FACT = "backends.";

    /** A member that shares nothing out. */
    public ClusterConfig(String cluster, String member, Address listen, Discovery discovery,
            Duration lease, Map<String, String> facts) {
        this(cluster, member, listen, discovery, lease, facts, null);
    }

    public ClusterConfig {
        facts = Map.copyOf(facts);
        if (lease.toMillis() < 1) {
            throw new IllegalArgumentException("lease must be >= 1 ms: " + lease);
        }
    }

    /** A host and its port. */
    public record Address(String host, int port) {

        /** @throws IllegalArgumentException for a text that is none */
        static Address of(String text) {
            int colon = text.lastIndexOf(':');
            if (colon < 1) {
                throw new IllegalArgumentException("no address: " + text);
            }
            return new Address(text.substring(0, colon),
                    Integer.parseInt(text.substring(colon + 1)));
        }

        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

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
