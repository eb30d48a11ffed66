package io.railhead.backend;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One entry of {@code backends:}.
 *
 * @param endpoints scheme, host and port each; at least one
 * @param ca PEM file of a private certificate authority, or null for the platform's
 * @param pathStyle whether the bucket goes into the path (true) or the host name (false)
 * @param answerTimeout to the answer's headers, retries included
 * @param idleTimeout how long a body may stall
 * @param maxConnections to all its endpoints, of fetches and of all else
 * @param proxy HTTP proxy that tunnels every connection, or null for none; nothing else names one
 */
public record BackendConfig(String name, List<URI> endpoints, String region, @Nullable Path ca,
        boolean pathStyle,
        Duration connectTimeout, Duration answerTimeout, Duration idleTimeout, int maxConnections,
        int maxAttempts, TrailerPolicy trailers, Fetches fetches, @Nullable Proxy proxy) {

    /** What becomes of a client's checksum trailers, once they are verified. */
    public enum TrailerPolicy {
        /** They are sent on once the store was seen to know checksums. */
        AUTO,
        FORWARD,
        /** The store is sent the plain body, for it refuses trailers. */
        DROP
    }

    /**
     * An HTTP proxy that is asked to CONNECT.
     *
     * @param password kept out of logs, as the user is
     */
    public record Proxy(String host, int port, @Nullable String user, @Nullable String password) {

        @Override
        public String toString() {
            return "http://" + (user == null ? "" : "...@") + host + ":" + port;
        }
    }

    /** Between which bounds the number of fetches under way follows what the store stands. */
    public record Fetches(int least, int most) {

        public Fetches {
            if (least < 1 || most < least) {
                throw new IllegalArgumentException(
                        "must be 1 <= least <= most: " + least + ", " + most);
            }
        }

        /** Half of the connections at most: writes, lists and slow readers have the others. */
        public static Fetches of(int maxConnections) {
            int most = Math.max(1, maxConnections / 2);
            return new Fetches(Math.min(4, most), most);
        }
    }

    public BackendConfig {
        endpoints = List.copyOf(endpoints);
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("endpoints must not be empty");
        }
    }
}
