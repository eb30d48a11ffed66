package io.railhead.gateway.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.ChildPeer;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client's process that is killed in mid-transfer: nothing of it stays. */
public class KilledPeerIT {
    private static final int BUFFER = 24 << 20;
    /** To start a process takes longer than all else, and may go on beside it. */
    private static final int AHEAD = 3;
    private static final int SAID_EVERY = 50;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            cache:
              memory: 128MiB
            rules:
              - bucket: held
                freshness: immutable
            """);

    /** @param way how the client asks */
    @ParameterizedTest
    @ValueSource(strings = {"http", "channel"})
    void aKilledClientLeavesNothingBehindAndDisturbsNobody(String way) throws Exception {
        kill(3, way);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "channel"})
    @Tag("long")
    void fiveHundredDoNotEither(String way) throws Exception {
        kill(500, way);
    }

    private void kill(int clients, String way) throws Exception {
        byte[] object = new byte[20 << 20];
        new Random(9).nextBytes(object);
        store.put("/held/object", object);
        store.put("/held/never", new byte[]{1});
        CountDownLatch never = new CountDownLatch(1);
        store.fault((_, bytes) -> bytes.length == 1 && isAwaited(never));
        TestClient client = gateway.client();
        try (TestPeer other = new TestPeer(client, "SK", BUFFER)) {
            client.get("/held/object", other.headers(0, BUFFER));
            long before = memoryFiles();
            killAll(clients, gateway.endpoint(), way, round -> {
                other.fill(round);
                assertThat(client.get("/held/object", other.headers(0, BUFFER))
                        .headers()
                        .firstValue("x-amz-rdma-reply")).contains("200");
                assertThat(other.bytes(0, object.length)).isEqualTo(object);
            });
            // What is held is moved at once, and counts as delivered whoever has gone.
            TestGateway.await(() -> way.equals("http") || gateway.metric(
                    "railhead_channel_requests_total{operation=\"get\",outcome=\"lost\",}") > 0);
            never.countDown();
            gateway.assertNoLease();
            TestGateway.await(() -> memoryFiles() <= before);
        }
    }

    private static boolean isAwaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    private static void killAll(int clients, URI gateway, String way, IntConsumer afterEach)
            throws IOException, InterruptedException {
        Deque<Process> ahead = new ArrayDeque<>();
        try {
            for (int round = 0; round < clients; round++) {
                while (ahead.size() < AHEAD && round + ahead.size() < clients) {
                    ahead.add(start(gateway, way));
                }
                killAtWork(ahead.remove());
                afterEach.accept(round);
                if ((round + 1) % SAID_EVERY == 0) {
                    System.out.println((round + 1) + " of " + clients + " were killed, by " + way);
                }
            }
        } finally {
            ahead.forEach(Process::destroyForcibly);
        }
    }

    /** Its session is at work when it ends. */
    public static void killOne(URI gateway, String way) throws IOException, InterruptedException {
        killAtWork(start(gateway, way));
    }

    /** One that opens its session and then waits until it is told to read. */
    private static Process start(URI gateway, String way) throws IOException {
        String java = ProcessHandle.current().info().command().orElseThrow();
        return new ProcessBuilder(java, "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                System.getProperty("java.class.path"), ChildPeer.class.getName(),
                gateway.toString(), way)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static void killAtWork(Process process) throws IOException, InterruptedException {
        try (BufferedWriter in = process.outputWriter();
                BufferedReader out = process.inputReader()) {
            in.newLine();
            in.flush();
            assertThat(out.lines().filter(line -> line.startsWith("reading")).findFirst())
                    .contains("reading 200");
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /** Descriptors of, and mappings from, memory that peers passed. */
    private static long memoryFiles() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"));
                Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"))) {
            return open.filter(KilledPeerIT::isPeerMemory).count()
                    + mapped.filter(line -> line.contains("test-peer")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPeerMemory(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("test-peer");
        } catch (IOException e) {
            // Closed while it was listed.
            return false;
        }
    }
}
