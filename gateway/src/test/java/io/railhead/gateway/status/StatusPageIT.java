package io.railhead.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.IndexColorModel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The status page in a browser, over a gateway that works. */
class StatusPageIT {
    private static final String MARKUP = "<img src=x onerror=window.broken=1>";
    private static final int BUFFER = 4 << 20;
    private static final int REQUESTS = 16;
    private static final int PICTURE_HEIGHT = 1700;
    private static final int PHONE_HEIGHT = 6000;
    private static final Path ELSE = Path.of("target");
    private static Chromium browser;

    private final HttpClient http = HttpClient.newHttpClient();
    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              name: rack7
              admission: {requests: %d}
            backends:
              ceph: {}
            rules:
              - bucket: plain
                freshness: immutable
                rdma: off
              - freshness: immutable
            """.formatted(REQUESTS));
    private final TestClient client = gateway.client();

    @BeforeAll
    static void open() {
        Optional<Path> program = Chromium.program();
        assumeTrue(program.isPresent(),
                "no Chromium on the path, and CHROMIUM names none: the page is not looked at");
        browser = new Chromium(program.orElseThrow());
    }

    @AfterAll
    static void close() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void start() {
        browser.complaints().clear();
        browser.requested().clear();
    }

    @AfterEach
    void stop() {
        browser.open(URI.create("about:blank"));
        http.close();
    }

    private void look(int width, int height) {
        browser.screen(width, height, "light");
        browser.open(gateway.admin());
        Chromium.await(() -> browser.isTrue("document.querySelectorAll('#buckets tr').length > 0"));
    }

    /** Requests are counted a moment after their answers were heard. */
    private void lookAtAll() {
        look(1280, 900);
        Chromium.await(() -> browser.text("#latencies").contains("13"));
    }

    /** Hits, misses, errors, and RDMA delivered and declined: 9 hits, 3 misses. */
    private void load() {
        store.put("/models/llama", new byte[1_500_000]);
        store.put("/plain/set", new byte[1 << 20]);
        store.put("/images/o", new byte[5000]);
        for (int i = 0; i < 5; i++) {
            assertThat(client.get("/models/llama").statusCode()).isEqualTo(200);
        }
        assertThat(client.get("/images/o").statusCode()).isEqualTo(200);
        assertThat(client.get("/models/none").statusCode()).isEqualTo(404);
        assertThat(gateway.client("AK", "wrong").get("/models/llama").statusCode())
                .isEqualTo(403);
        try (TestPeer peer = new TestPeer(client, "SK", BUFFER)) {
            for (int i = 0; i < 3; i++) {
                client.get("/models/llama", peer.headers(0, BUFFER));
                client.get("/plain/set", peer.headers(0, BUFFER));
            }
        }
    }

    @Test
    void itShowsWhatWasSent() {
        load();
        lookAtAll();
        assertThat(browser.value("document.title")).isEqualTo("rack7: serving – Railhead");
        assertThat(browser.text("#state")).isEqualTo("serving");
        assertThat(browser.text("#helping")).contains("75.0 %", "9 hits, 3 misses");
        long spared = 7L * 1_500_000 + 2L * (1 << 20);
        assertThat(browser.text("#helping")).contains("spared " + mebi(spared));
        long delivered = spared + 1_500_000 + (1 << 20) + 5000;
        assertThat(browser.text("#rdma")).contains("Yes, by loopback", "3 declined",
                "%.1f %%".formatted(100 * 4_500_000.0 / delivered));
        assertThat(browser.text("#declines")).contains("rule", "a rule says rdma: off", "3");
        assertThat(browser.text("#buckets tr:nth-child(2)")).contains("models", "10",
                mebi(8 * 1_500_000));
        assertThat(browser.text("#buckets tr:nth-child(3)")).contains("plain", "3", "3.00 MiB");
        assertThat(browser.text("#buckets tr:nth-child(4)")).contains("images", "1", "4.88 KiB");
        assertThat(browser.text("#errors")).contains("SignatureDoesNotMatch (403)",
                "unauthenticated in models");
        assertThat(browser.text("#slots tr[data-use=held]")).contains("2.44 MiB");
        assertThat(browser.text("[data-fabric=loopback]")).contains("usable", "3 transfers");
        assertThat(browser.text("[data-fabric=verbs]")).contains("off");
        assertThat(browser.text("[data-backend=ceph]")).contains("1 of 1 up",
                store.endpoint().toString());
        assertThat(browser.text("#latencies")).contains("GetObject");
        assertThat(browser.text("#process")).contains("Heap", "Connections", "no TLS",
                "all in force");
        // Drawn though folded away.
        assertThat(browser.value("document.getElementById('configuration').textContent"))
                .asString()
                .contains("cache.memory64MiB", "rules[0].rdmafalse");
        throughputIsDrawn();
        assertThat(browser.requested()).allMatch(
                address -> address.startsWith(gateway.admin().toString()));
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void whoeverIsToldToSlowDownIsSeen() {
        store.put("/models/llama", new byte[1000]);
        client.get("/models/llama");
        look(1280, 900);
        assertThat(browser.isTrue("document.getElementById('overload-section').hidden")).isTrue();
        CountDownLatch held = new CountDownLatch(1);
        store.put("/models/slow", new byte[1000]);
        store.fault((_, _) -> {
            TestGateway.await(held);
            return false;
        });
        List<RawConnection> connections = new ArrayList<>();
        try {
            for (int i = 0; i <= REQUESTS; i++) {
                connections.add(new RawConnection(gateway.endpoint()).send(RawConnection
                        .head(client.signed("GET", "/models/slow", new byte[0])) + "\r\n"));
                int taken = Math.min(i + 1, REQUESTS);
                TestGateway.await(() -> gateway
                        .metric("railhead_admission_in_use{what=\"requests\",}") == taken);
            }
            assertThat(connections.getLast().receiveHead().status()).isEqualTo(503);
            Chromium.await(() -> browser.text("#overload").contains("trainer"));
            assertThat(browser.text("#overload")).contains("1", "too many requests at a time");
        } finally {
            held.countDown();
            connections.forEach(RawConnection::close);
        }
        assertThat(browser.complaints()).isEmpty();
    }

    private static String mebi(long bytes) {
        double value = bytes / (double) (1 << 20);
        return (value < 10 ? "%.2f MiB" : "%.1f MiB").formatted(value);
    }

    private void throughputIsDrawn() {
        Chromium.await(() -> browser.isTrue("document.querySelector('.line.store') !== null"
                + " && document.querySelectorAll('#throughput .area').length === 6"));
        assertThat(browser.text("#paths tr[data-path=loopback]")).contains("loopback", "/s");
    }

    /** Hits of held objects are no reason for all to look well. */
    @Test
    void aStoreThatIsAwayIsSeenAtTheFirstGlance() {
        store.put("/models/llama", new byte[1000]);
        for (int i = 0; i < 50; i++) {
            client.get("/models/llama");
        }
        store.close();
        TestGateway.await(() -> client.get("/models/none").statusCode() == 503
                && gateway.metric(
                        "railhead_backend_endpoints{backend=\"ceph\",state=\"healthy\",}") == 0);
        look(1280, 900);
        assertThat(browser.isTrue("document.querySelector('#helping .verdict.bad') !== null"))
                .isTrue();
        assertThat(browser.text("#helping")).contains("ceph", "failed");
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void itFitsAPhone() {
        load();
        look(360, 780);
        assertThat(browser.value("document.documentElement.scrollWidth")).isEqualTo(360);
        assertThat(browser.isTrue("[...document.querySelectorAll('main *')].every(element =>"
                + " element.getBoundingClientRect().right <= 360)")).isTrue();
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void aGatewayThatIsGoneIsSaidToBe() {
        store.put("/models/llama", new byte[1000]);
        client.get("/models/llama");
        look(1280, 900);
        assertThat(browser.isTrue("document.getElementById('gone').hidden")).isTrue();
        gateway.close();
        Chromium.await(() -> browser.isTrue("!document.getElementById('gone').hidden"));
        assertThat(browser.text("#gone")).startsWith("No answer from rack7 since ")
                .contains("it cannot be reached");
        assertThat(browser.value("document.title")).isEqualTo("rack7: no answer – Railhead");
        assertThat(browser.text("#buckets")).contains("models");
        start();
    }

    /** Every text of a real answer is markup now, and no policy of ours keeps it from running. */
    @Test
    void whateverClientsSendStaysText() throws IOException {
        load();
        JsonObject hostile = hostile(new JsonObject(
                new String(fetch("/status.json"), StandardCharsets.UTF_8)));
        HttpServer other = HttpServer
                .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/", exchange -> pass(exchange, hostile));
        other.start();
        try {
            browser.screen(1280, 900, "dark");
            browser.open(URI.create("http://127.0.0.1:" + other.getAddress().getPort()));
            Chromium.await(() -> browser.text("#buckets").contains(MARKUP)
                    && browser.text("#errors").contains(MARKUP)
                    && browser.text("#name").contains(MARKUP));
            assertThat(browser.value("document.querySelectorAll('img').length")).isEqualTo(0);
            assertThat(browser.value("typeof window.broken")).isEqualTo("undefined");
            assertThat(browser.complaints()).isEmpty();
        } finally {
            other.stop(0);
        }
    }

    private void pass(HttpExchange exchange, JsonObject status) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            byte[] body = path.equals("/status.json")
                    ? status.encode().getBytes(StandardCharsets.UTF_8)
                    : fetch(path);
            if (path.endsWith(".css")) {
                exchange.getResponseHeaders().set("content-type", "text/css");
            } else if (path.endsWith(".svg")) {
                exchange.getResponseHeaders().set("content-type", "image/svg+xml");
            }
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private byte[] fetch(String path) {
        return http.sendAsync(HttpRequest.newBuilder(gateway.admin().resolve(path)).build(),
                HttpResponse.BodyHandlers.ofByteArray()).join().body();
    }

    private static Object hostile(Object value) {
        return switch (value) {
            case JsonObject object -> hostile(object);
            case JsonArray array -> {
                JsonArray parts = new JsonArray();
                array.forEach(part -> parts.add(part == null ? null : hostile(part)));
                yield parts;
            }
            case String _ -> MARKUP;
            default -> value;
        };
    }

    /** Names of reasons and of settings are texts too. */
    private static JsonObject hostile(JsonObject object) {
        boolean isMap = object.containsKey("rule") || object.containsKey("gateway.name");
        JsonObject parts = new JsonObject();
        object.forEach(part -> {
            if (part.getValue() != null) {
                parts.put(isMap ? MARKUP : part.getKey(), hostile(part.getValue()));
            } else {
                parts.putNull(part.getKey());
            }
        });
        return parts;
    }

    /**
     * {@code -Drailhead.screenshots=FOLDER}: the documentation's picture, in minutes; how it looks
     * in the dark and on a phone goes to {@code target}.
     */
    @Test
    @EnabledIfSystemProperty(named = "railhead.screenshots", matches = ".+")
    void picturesForTheDocumentation() throws Exception {
        Path folder = Path.of(System.getProperty("railhead.screenshots"));
        try (StatusLoad load = new StatusLoad(store, client, gateway.client("AK", "wrong"))) {
            load.run(Integer.getInteger("railhead.screenshots.seconds", 240));
            look(1240, 900);
            write(folder.resolve("status-page.png"), browser.screenshot(PICTURE_HEIGHT));
            browser.screen(1240, 900, "dark");
            write(ELSE.resolve("status-page-dark.png"), browser.screenshot(PICTURE_HEIGHT));
            look(360, 780);
            write(ELSE.resolve("status-page-phone.png"), browser.screenshot(PHONE_HEIGHT));
        }
        assertThat(browser.complaints()).isEmpty();
    }

    /** In 256 colours: half the size, and nobody sees it. */
    private static void write(Path file, byte[] png) throws IOException {
        BufferedImage drawn = ImageIO.read(new ByteArrayInputStream(png));
        int[] pixels = drawn.getRGB(0, 0, drawn.getWidth(), drawn.getHeight(), null, 0,
                drawn.getWidth());
        int[] palette = palette(pixels);
        BufferedImage indexed = new BufferedImage(drawn.getWidth(), drawn.getHeight(),
                BufferedImage.TYPE_BYTE_INDEXED,
                new IndexColorModel(8, palette.length, palette, 0, false, -1,
                        DataBuffer.TYPE_BYTE));
        indexed.setRGB(0, 0, drawn.getWidth(), drawn.getHeight(), pixels, 0, drawn.getWidth());
        ImageIO.write(indexed, "png", file.toFile());
    }

    /** The most frequent. */
    private static int[] palette(int[] pixels) {
        Map<Integer, Long> counts = Arrays.stream(pixels)
                .boxed()
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        return counts.entrySet()
                .stream()
                .sorted(Map.Entry.<Integer, Long>comparingByValue().reversed())
                .limit(256)
                .mapToInt(Map.Entry::getKey)
                .toArray();
    }
}
