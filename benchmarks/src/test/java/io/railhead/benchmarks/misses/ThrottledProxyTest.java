package io.railhead.benchmarks.misses;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;

/** The link between the bench and its store. */
class ThrottledProxyTest {
    private static final long MILLI = 1_000_000;

    @Test
    void allShareOneRateInTheOrderInWhichTheyCome() {
        TokenBucket tokenBucket = new TokenBucket(8_000_000, 0);

        assertThat(tokenBucket.take(1000, 100 * MILLI)).isEqualTo(97 * MILLI);
        assertThat(tokenBucket.take(4000, 100 * MILLI)).isEqualTo(101 * MILLI);
        assertThat(tokenBucket.take(10_000, 100 * MILLI)).isEqualTo(111 * MILLI);
    }

    @Test
    void whoWokeLateMakesUpAShortWhileOnly() {
        TokenBucket tokenBucket = new TokenBucket(8_000_000, 0);
        tokenBucket.take(10_000, 0);

        assertThat(tokenBucket.take(1000, 8 * MILLI)).isEqualTo(11 * MILLI);
        assertThat(tokenBucket.take(1000, 1000 * MILLI)).isEqualTo(997 * MILLI);
    }

    @Test
    void anAnswerComesLateAndEverythingIsCounted() throws Exception {
        try (ServerSocket store = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ThrottledProxy throttledProxy = new ThrottledProxy(store.getLocalPort(),
                        8_000_000_000L, 50)) {
            Thread echo = Thread.ofVirtual().start(() -> echo(store));
            long began = System.nanoTime();
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(),
                    throttledProxy.port())) {
                client.getOutputStream().write(new byte[100]);
                assertThat(client.getInputStream().readNBytes(100)).hasSize(100);
                // Never earlier; later it may be.
                assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(50 * MILLI);
                assertThat(throttledProxy.passed()).isEqualTo(new ThrottledProxy.Passed(100, 100));
            }
            echo.join();
        }
    }

    private static void echo(ServerSocket store) {
        try (Socket socket = store.accept()) {
            InputStream in = socket.getInputStream();
            for (byte[] some = new byte[1000]; true;) {
                int read = in.read(some);
                if (read < 0) {
                    return;
                }
                socket.getOutputStream().write(some, 0, read);
            }
        } catch (IOException _) {
            // Its client has gone.
        }
    }
}
