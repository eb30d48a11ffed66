package io.railhead.gateway.object.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestRange;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An object as large as S3 lets one be, of which a little is read here and there. */
class HugeObjectIT {
    /** Its last page is not a whole one. */
    private static final long SIZE = (5L << 40) - 12_345;
    private static final int PARTS = 10_000;
    /** All but the last, which has some kilobytes. */
    private static final long PART = SIZE / (PARTS - 1);
    private static final int READ = 100_000;
    private static final int BUFFER = 1 << 20;
    private static final int PIECE = 64 << 10;
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d*)");
    private static final Pattern PART_NUMBER = Pattern.compile("partNumber=(\\d+)");

    private static final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private static final HttpServer store = serve();
    @RegisterExtension
    private static final TestGateway gateway = TestGateway
            .over(URI.create("http://127.0.0.1:" + store.getAddress().getPort()))
            .config("""
                    rules:
                      - freshness: immutable
                    """);
    private static final TestClient client = gateway.client();
    private static TestPeer peer;
    private static volatile byte[] completed = new byte[0];

    private static HttpServer serve() {
        try {
            HttpServer server = HttpServer
                    .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setExecutor(threads);
            server.createContext("/", HugeObjectIT::answer);
            server.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeAll
    static void start() {
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
    }

    @AfterAll
    static void stop() {
        gateway.close();
        store.stop(0);
        threads.close();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (exchange.getRequestMethod().equals("POST")) {
                completed = exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody()
                        .write("<CompleteMultipartUploadResult/>".getBytes(UTF_8));
                return;
            }
            Matcher range = RANGE.matcher(asked(exchange));
            boolean isPart = range.matches();
            long first = isPart ? Long.parseLong(range.group(1)) : 0;
            long last = isPart && !range.group(2).isEmpty()
                    ? Math.min(Long.parseLong(range.group(2)), SIZE - 1)
                    : SIZE - 1;
            exchange.getResponseHeaders().set("ETag", "\"huge\"");
            if (isPart) {
                exchange.getResponseHeaders()
                        .set("Content-Range", "bytes %d-%d/%d".formatted(first, last, SIZE));
            }
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.getResponseHeaders()
                        .set("Content-Length", Long.toString(last - first + 1));
                exchange.sendResponseHeaders(200, -1);
                return;
            }
            exchange.sendResponseHeaders(isPart ? 206 : 200, last - first + 1);
            send(exchange.getResponseBody(), first, last + 1);
        }
    }

    /** A part by its range, too. */
    private static String asked(HttpExchange exchange) {
        Matcher part = PART_NUMBER
                .matcher(String.valueOf(exchange.getRequestURI().getRawQuery()));
        if (!part.matches()) {
            return String.valueOf(exchange.getRequestHeaders().getFirst("Range"));
        }
        exchange.getResponseHeaders().set("x-amz-mp-parts-count", Integer.toString(PARTS));
        long first = (Long.parseLong(part.group(1)) - 1) * PART;
        return "bytes=" + first + "-" + (Math.min(first + PART, SIZE) - 1);
    }

    private static void send(OutputStream body, long from, long to) throws IOException {
        for (long at = from; at < to; at += PIECE) {
            body.write(bytes(at, (int) Math.min(PIECE, to - at)));
        }
    }

    /** Nothing like it stands eight bytes, a page, or 4 GiB further on. */
    private static byte[] bytes(long from, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            long at = from + i;
            bytes[i] = (byte) (((at / 8 + 1) * 0x9E3779B97F4A7C15L) >>> (8 * (int) (at % 8)));
        }
        return bytes;
    }

    @Test
    void theLastOfTenThousandPartsIsRead() {
        long first = (PARTS - 1) * PART;
        byte[] there = bytes(first, (int) (SIZE - first));
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> http = client.get("/b/huge?partNumber=" + PARTS);
            assertThat(http.statusCode()).isEqualTo(206);
            assertThat(http.body()).isEqualTo(there);
            assertThat(http.headers().firstValue("x-amz-mp-parts-count"))
                    .contains(Integer.toString(PARTS));

            peer.fill(round);
            HttpResponse<byte[]> token = client.get("/b/huge?partNumber=" + PARTS,
                    peer.headers(0, BUFFER));
            assertThat(token.headers().firstValue("x-amz-rdma-bytes-transferred"))
                    .contains(Integer.toString(there.length));
            assertThat(peer.bytes(0, there.length)).isEqualTo(there);
            assertThat(token.headers().firstValue("x-cache")).contains("HIT");
        }
    }

    /** A document of a megabyte, of which the store must see each byte. */
    @Test
    void anUploadOfTenThousandPartsIsCompleted() {
        StringBuilder document = new StringBuilder("<CompleteMultipartUpload>");
        for (int part = 1; part <= PARTS; part++) {
            document.append(("<Part><PartNumber>%d</PartNumber><ETag>\"%032x\"</ETag>"
                    + "<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C></Part>").formatted(part, part));
        }
        byte[] sent = document.append("</CompleteMultipartUpload>").toString().getBytes(UTF_8);

        assertThat(client.send("POST", "/b/uploaded?uploadId=u", sent).statusCode())
                .isEqualTo(200);

        assertThat(completed).isEqualTo(sent);
    }

    private static String range(long first) {
        return "bytes=" + first + "-" + (Math.min(first + READ, SIZE) - 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, (1L << 31) - 5, (1L << 32) - 5, (1L << 40) + 1, SIZE - READ, SIZE - 1})
    void aRangeIsReadWhereverItLies(long first) {
        byte[] there = bytes(first, (int) Math.min(READ, SIZE - first));
        for (int round = 0; round < 2; round++) {
            HttpResponse<byte[]> http = client.get("/b/huge", "range", range(first));
            assertThat(http.statusCode()).isEqualTo(206);
            assertThat(http.body()).isEqualTo(there);
            assertThat(http.headers().firstValue("content-range"))
                    .contains("%s/%d".formatted(range(first).replace('=', ' '), SIZE));

            peer.fill(round);
            HttpResponse<byte[]> token = client.get("/b/huge",
                    peer.headers(0, BUFFER, "range", range(first)));
            assertThat(token.headers().firstValue("x-amz-rdma-bytes-transferred"))
                    .contains(Integer.toString(there.length));
            assertThat(peer.bytes(0, there.length)).isEqualTo(there);

            peer.fill(round);
            Answer answer = peer.ask(Request.get(0, "b", "huge", peer.key(), 0, BUFFER)
                    .withRange(new RequestRange.Between(first, first + there.length - 1)));
            assertThat(answer.isSuccess()).isTrue();
            assertThat(peer.bytes(0, there.length)).isEqualTo(there);
        }
    }

    @Test
    void itsEndIsReadFromItsEnd() {
        HttpResponse<byte[]> end = client.get("/b/huge", "range", "bytes=-" + READ);
        assertThat(end.statusCode()).isEqualTo(206);
        assertThat(end.body()).isEqualTo(bytes(SIZE - READ, READ));
        HttpResponse<byte[]> behind = client.get("/b/huge", "range", "bytes=" + (SIZE - 1) + "-");
        assertThat(behind.body()).isEqualTo(bytes(SIZE - 1, 1));
        assertThat(client.head("/b/huge").headers().firstValueAsLong("content-length"))
                .hasValue(SIZE);
    }

    /** More than the cache holds comes and goes. */
    @Test
    void allOfItBeginsAtOnceAndIsGivenUpWhereItsReaderLeaves() {
        String head = RawConnection.head(client.signed("GET", "/b/huge", new byte[0])) + "\r\n";
        try (RawConnection reader = new RawConnection(gateway.endpoint())) {
            RawConnection.Answer answer = reader.send(head).receiveHead();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.headers()).containsEntry("content-length", Long.toString(SIZE));
            for (long at = 0; at < 96 << 20; at += 1 << 20) {
                assertThat(reader.read(1 << 20)).isEqualTo(bytes(at, 1 << 20));
            }
        }
    }
}
