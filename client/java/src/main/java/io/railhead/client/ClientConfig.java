package io.railhead.client;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/**
 * The configuration of a client.
 *
 * @param endpoint of the gateway or the store; addressed path-style
 * @param fallback the reaction if {@code via} is not available
 * @param streams parts of one object in flight at a time; over HTTP and by token, also reads of
 *            {@code getAll}
 * @param timeout the longest silence of the other side in each attempt; on a session's channel, the
 *            longest wait for an answer
 * @param ca PEM file of certificate authorities to trust instead of the JDK's, or null
 */
public record ClientConfig(URI endpoint, String region, AwsCredentialsProvider credentials, Via via,
        Fallback fallback, int streams, Duration timeout, @Nullable Path ca) {

    public ClientConfig {
        String scheme = String.valueOf(endpoint.getScheme());
        if (!(scheme.equals("http") || scheme.equals("https")) || endpoint.getHost() == null) {
            throw new IllegalArgumentException(
                    "endpoint must be http://host[:port] or https://host[:port]: " + endpoint);
        }
        if (streams < 1) {
            throw new IllegalArgumentException("streams must be >= 1: " + streams);
        }
    }

    public static ClientConfig of(URI endpoint, String region, AwsCredentialsProvider credentials) {
        return new ClientConfig(endpoint, region, credentials, Via.HTTP, Fallback.HTTP, 4,
                Duration.ofSeconds(30), null);
    }

    /** Returns the configuration of another gateway, for short waits. */
    ClientConfig at(URI other, Duration longest) {
        return new ClientConfig(other, region, credentials, via, fallback, streams,
                timeout.compareTo(longest) < 0 ? timeout : longest, ca);
    }

    public ClientConfig with(Via other) {
        return new ClientConfig(endpoint, region, credentials, other, fallback, streams, timeout,
                ca);
    }

    public ClientConfig with(Fallback other) {
        return new ClientConfig(endpoint, region, credentials, via, other, streams, timeout, ca);
    }

    public ClientConfig withStreams(int other) {
        return new ClientConfig(endpoint, region, credentials, via, fallback, other, timeout, ca);
    }

    public ClientConfig trusting(Path other) {
        return new ClientConfig(endpoint, region, credentials, via, fallback, streams, timeout,
                other);
    }
}
