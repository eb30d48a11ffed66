package io.railhead.cli.doctor;

import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.ListenAddress;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A gateway that already runs on this machine.
 *
 * @param reasonNotReady "" if it is ready
 */
record RunningGateway(String reasonNotReady) {
    private static final Duration LIMIT = Duration.ofSeconds(3);

    /**
     * Returns the gateway that responds on the health address; empty if none does. Blocks.
     *
     * @param tls the certificate of the port; null for cleartext
     */
    static Optional<RunningGateway> at(ListenAddress health, GatewayConfig.@Nullable Tls tls) {
        if (health.port() == 0) {
            return Optional.empty();
        }
        HttpClient.Builder builder = HttpClient.newBuilder()
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(LIMIT);
        String scheme = tls == null ? "http" : "https";
        try (HttpClient client = tls == null
                ? builder.build()
                : builder.sslContext(PinnedCertificate.context(tls.certificate())).build()) {
            // Over TLS the certificate is proof enough, and /metrics may need a client's own.
            if (tls == null && !get(client, scheme, health, "/metrics").body()
                    .contains("railhead_requests_in_flight")) {
                return Optional.empty();
            }
            HttpResponse<String> ready = get(client, scheme, health, "/readyz");
            return Optional.of(new RunningGateway(
                    ready.statusCode() == 200 ? "" : firstLine(ready.body())));
        } catch (IOException | IllegalArgumentException e) {
            // There is no response, or not in HTTP, or the host is invalid in a URI.
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** Returns the first line: the others concern stores, which the doctor checks itself. */
    private static String firstLine(String body) {
        return body.lines().findFirst().orElse("no reason given");
    }

    private static HttpResponse<String> get(HttpClient client, String scheme,
            ListenAddress health, String path)
            throws IOException, InterruptedException {
        ListenAddress local = new ListenAddress(local(health.host()), health.port());
        return client.send(
                HttpRequest.newBuilder(URI.create(scheme + "://" + local + path))
                        .timeout(LIMIT)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** Returns the loopback address for a listener on every address. */
    private static String local(String host) {
        return switch (host) {
            case "0.0.0.0" -> "127.0.0.1";
            case "::" -> "::1";
            default -> host;
        };
    }
}
