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
 * @param answerTimeout until the response's headers, retries included
 * @param idleTimeout how long a body may stall
 * @param maxConnections to all its endpoints, for fetches and all other requests
 * @param proxy the HTTP proxy that tunnels every connection; null for none, since only the
 *            configuration can name one
 * @param rate the most that the store allows
 */
public record BackendConfig(String name, List<URI> endpoints, String region, @Nullable Path ca,
        boolean pathStyle,
        Duration connectTimeout, Duration answerTimeout, Duration idleTimeout, int maxConnections,
        int maxAttempts, TrailerPolicy trailers, Fetches fetches, @Nullable Proxy proxy,
        Rate rate) {

    /** The handling of a client's checksum trailers, once they are verified. */
    public enum TrailerPolicy {
        /** Forwards trailers once the store was seen to support checksums. */
        AUTO,
        FORWARD,
        /** Sends the plain body, for a store that refuses trailers. */
        DROP
    }

    /**
     * An HTTP proxy that tunnels by CONNECT.
     *
     * @param password kept out of logs, as the user is
     */
    public record Proxy(String host, int port, @Nullable String user, @Nullable String password) {

        @Override
        public String toString() {
            return "http://" + (user == null ? "" : "...@") + host + ":" + port;
        }
    }

    /** The bounds of the number of fetches under way, which adapts to the store. */
    public record Fetches(int least, int most) {

        public Fetches {
            if (least < 1 || most < least) {
                throw new IllegalArgumentException(
                        "must be 1 <= least <= most: " + least + ", " + most);
            }
        }

        /**
         * Returns the default: at most half of the connections, so that writes, lists and slow
         * readers have the others.
         */
        public static Fetches of(int maxConnections) {
            int most = Math.max(1, maxConnections / 2);
            return new Fetches(Math.min(4, most), most);
        }
    }

    /** A store without a rate. */
    public BackendConfig(String name, List<URI> endpoints, String region, @Nullable Path ca,
            boolean pathStyle, Duration connectTimeout, Duration answerTimeout,
            Duration idleTimeout, int maxConnections, int maxAttempts, TrailerPolicy trailers,
            Fetches fetches, @Nullable Proxy proxy) {
        this(name, endpoints, region, ca, pathStyle, connectTimeout, answerTimeout, idleTimeout,
                maxConnections, maxAttempts, trailers, fetches, proxy, Rate.NONE);
    }

    /** Returns the same store with another rate. */
    public BackendConfig withRate(Rate other) {
        return new BackendConfig(name, endpoints, region, ca, pathStyle, connectTimeout,
                answerTimeout, idleTimeout, maxConnections, maxAttempts, trailers, fetches, proxy,
                other);
    }

    public BackendConfig {
        endpoints = List.copyOf(endpoints);
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("endpoints must not be empty");
        }
    }
}
