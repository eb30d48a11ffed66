package io.railhead.gateway.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.GatewayProcess;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A gateway whose wall clock is set while it serves: signatures are of that clock, and nothing else
 * that a client can see is.
 */
@EnabledIf(value = "hasCompiler", disabledReason = "no gcc on the path: apt-get install gcc libc6-dev")
class ClockSetIT {
    private static final List<String> BUCKETS = List.of("immutable", "bounded", "exclusive");
    private static final int SIZE = 3_000_000;
    private static final byte[] OBJECT = new byte[SIZE];

    @TempDir
    private static Path folder;

    private static FileChannel clock;
    private static FakeStore store;
    private static GatewayProcess gateway;
    private static TestClient client;
    private static TestPeer peer;

    @BeforeAll
    static void start() throws Exception {
        new Random(1).nextBytes(OBJECT);
        Path setBy = Files.write(folder.resolve("clock"), new byte[Long.BYTES]);
        clock = FileChannel.open(setBy, StandardOpenOption.WRITE);
        store = new FakeStore();
        Files.writeString(folder.resolve("credentials.yaml"), TestGateway.TRAINER);
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:0
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                  sole: true
                admin: {enabled: false}
                rdma: {loopback: {socket: loopback.sock}}
                cache: {memory: 128MiB}
                backends: {store: {endpoints: [%s]}}
                rules:
                  - bucket: immutable
                    freshness: immutable
                  - bucket: bounded
                    shared: true
                    freshness: {bounded: 10m}
                  - bucket: exclusive
                    shared: true
                    freshness: {exclusive: 10m}
                """.formatted(store.endpoint()));
        gateway = GatewayProcess.start(config,
                Map.of("LD_PRELOAD", library().toString(), "CLOCK_SET_BY", setBy.toString()));
        client = new TestClient(gateway.endpoint(), "AK", "SK");
        for (String bucket : BUCKETS) {
            store.put("/" + bucket + "/held", OBJECT);
            assertThat(client.get("/" + bucket + "/held").body()).isEqualTo(OBJECT);
        }
        peer = new TestPeer(client, "SK", SIZE);
    }

    static boolean hasCompiler() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "gcc")));
    }

    private static Path library() throws Exception {
        Path library = folder.resolve("clock_set.so");
        Process compiler = new ProcessBuilder("gcc", "-shared", "-fPIC", "-O1", "-o",
                library.toString(), "src/test/c/clock_set.c")
                .redirectErrorStream(true)
                .start();
        String said = new String(compiler.getInputStream().readAllBytes(), UTF_8);
        assertThat(compiler.waitFor()).as(said).isZero();
        return library;
    }

    @AfterAll
    static void stop() throws IOException {
        peer.close();
        gateway.close();
        store.close();
        clock.close();
    }

    @BeforeEach
    @AfterEach
    void setRight() throws IOException {
        set(Duration.ZERO);
    }

    private static void set(Duration by) throws IOException {
        clock.write(ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(0, by.toNanos()), 0);
    }

    private static TestClient at(Duration by) {
        return client.at(Clock.offset(Clock.systemUTC(), by));
    }

    /** The store's own clock is nobody's to set: it takes any signature here. */
    @ParameterizedTest
    @ValueSource(strings = {"PT1H", "PT-1H", "PT40S", "PT-40S", "P400D", "P-400D"})
    void onlySignaturesAreOfTheNewTime(String by) throws Exception {
        Duration set = Duration.parse(by);
        int before = store.requests().size();
        try (RawConnection reader = new RawConnection(gateway.endpoint())) {
            reader.send(RawConnection.head(client.signed("GET", "/immutable/held", new byte[0]))
                    + "\r\n").receiveHead();
            assertThat(reader.read(1000)).isEqualTo(range(0, 1000));
            set(set);

            assertThatSkewIsRefused(set);
            for (String bucket : BUCKETS) {
                assertThatItIsHeld(bucket, at(set));
            }
            assertThat(store.requestsAfter(before)).isEmpty();
            assertThat(reader.read(SIZE - 1000)).isEqualTo(range(1000, SIZE));
        }
        assertThatWritesGoOn(at(set), "/immutable/written" + by);
        assertThat(gateway.isReady()).isTrue();

        set(Duration.ZERO);
        assertThatItIsHeld("bounded", client);
    }

    private static byte[] range(int from, int to) {
        return Arrays.copyOfRange(OBJECT, from, to);
    }

    /** Minutes may pass between two clocks, as in S3; SDKs then mend theirs by the Date header. */
    private static void assertThatSkewIsRefused(Duration set) {
        var answer = client.get("/immutable/held");
        if (set.abs().compareTo(Duration.ofMinutes(15)) < 0) {
            assertThat(answer.statusCode()).isEqualTo(200);
        } else {
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(new String(answer.body(), UTF_8)).contains("RequestTimeTooSkewed");
        }
        Instant told = ZonedDateTime.parse(answer.headers().firstValue("date").orElseThrow(),
                DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
        assertThat(Duration.between(Instant.now().plus(set), told).abs())
                .isLessThan(Duration.ofSeconds(20));
    }

    private static void assertThatItIsHeld(String bucket, TestClient now) {
        String path = "/" + bucket + "/held";
        var answer = now.get(path);
        assertThat(answer.body()).isEqualTo(OBJECT);
        assertThat(answer.headers().firstValue("x-cache")).contains("HIT");
        peer.fill(0);
        assertThat(now.get(path, peer.headers(0, SIZE))
                .headers()
                .firstValue("x-amz-rdma-bytes-transferred")).contains(Integer.toString(SIZE));
        assertThat(peer.bytes(0, SIZE)).isEqualTo(OBJECT);
        peer.fill(0);
        Answer answered = peer.ask(Request.get(0, bucket, "held", peer.key(), 0, SIZE));
        assertThat(answered.isSuccess()).as("%s", answered).isTrue();
        assertThat(peer.bytes(0, SIZE)).isEqualTo(OBJECT);
    }

    private static void assertThatWritesGoOn(TestClient now, String path) {
        byte[] bytes = range(0, 70_000);
        assertThat(now.put(path, bytes).statusCode()).isEqualTo(200);
        assertThat(store.object(path)).isEqualTo(bytes);
        assertThat(now.get(path).body()).isEqualTo(bytes);
    }
}
