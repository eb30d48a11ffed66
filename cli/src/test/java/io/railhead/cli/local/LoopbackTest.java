package io.railhead.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoopbackTest {

    @Test
    void noPortIsGivenTwice() throws IOException {
        Set<Integer> ports = new HashSet<>();
        // The system alone would give one of these again, most probably.
        while (ports.size() < 1000) {
            assertThat(ports.add(Loopback.freePort())).isTrue();
        }
    }

    @Test
    void anAnswerThatIsNotGoodIsQuoted() throws IOException {
        HttpServer server = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = "not today\nnor tomorrow".getBytes(UTF_8);
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/good")
                    ? 200
                    : 503, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/good");
            assertThat(Loopback.text(uri)).isEqualTo("not today\nnor tomorrow");
            assertThatThrownBy(() -> Loopback.text(uri.resolve("/bad")))
                    .isInstanceOf(IOException.class)
                    .hasMessage(uri.resolve("/bad") + " answers 503: not today");
        } finally {
            server.stop(0);
        }
    }
}
