package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class DirectConnectionsTest {
    @Test
    void noProxyTakesPart() throws Exception {
        Properties before = (Properties) System.getProperties().clone();
        HttpServer server = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.getProperties()
                    .putAll(Map.of("http.proxyHost", "127.0.0.1", "http.proxyPort",
                            String.valueOf(silent.getLocalPort()), "http.nonProxyHosts", ""));
            URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
            assertThat(new DirectConnections(Duration.ofSeconds(60), null).createConnection(uri)
                    .getResponseCode()).isEqualTo(204);
        } finally {
            System.setProperties(before);
            server.stop(0);
        }
    }
}
