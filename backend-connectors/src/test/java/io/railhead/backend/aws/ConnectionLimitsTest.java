package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendException;
import io.railhead.backend.testing.ScriptedStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The times that a connection to a store may take to begin, and to be idle. */
class ConnectionLimitsTest {
    private static final int MOST_WAITING = 64;
    private static final int REFUSED_MILLIS = 300;

    private final List<Socket> waiting = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket socket : waiting) {
            socket.close();
        }
    }

    /** Fills the queue of connections that nobody accepts: the kernel answers no further one. */
    private void fill(ServerSocket server) throws IOException {
        for (int i = 0; i < MOST_WAITING; i++) {
            Socket next = new Socket();
            waiting.add(next);
            try {
                next.connect(server.getLocalSocketAddress(), REFUSED_MILLIS);
            } catch (SocketTimeoutException e) {
                return;
            }
        }
        throw new IOException("the kernel takes every connection");
    }

    private static URI address(String scheme, ServerSocket server) {
        return URI.create(scheme + "://127.0.0.1:" + server.getLocalPort());
    }

    @Test
    void aConnectionThatDoesNotBeginInTimeIsTriedElsewhere() throws IOException {
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ScriptedStore alive = new ScriptedStore(status(200, "alive"))) {
            fill(full);
            try (AwsBackend backend = ScriptedBackend.over(USUAL, address("http", full),
                    alive.endpoint())) {
                for (int i = 0; i < 3; i++) {
                    assertThat(calls(backend).get("k").text()).isEqualTo("alive");
                }
                assertThat(backend.stats().retries()).isOne();
                assertThat(backend.stats().healthyEndpoints()).isOne();
            }
        }
    }

    /** The kernel has taken the connection, and whoever should speak TLS there says nothing. */
    @Test
    void aHandshakeThatDoesNotEndIsGivenUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1),
                        address("https", silent))) {
            long begun = System.nanoTime();
            assertThatThrownBy(() -> calls(backend).get("k")).isInstanceOf(BackendException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .as("not the answer's time, which is a minute here")
                    .isLessThan(ScriptedBackend.LONG);
        }
    }

    @Test
    void aConnectionWithoutARequestIsClosed() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        try (ScriptedStore store = new ScriptedStore((request, line) -> {
            status(200, "x").play(request, line);
            line.awaitClosed();
            closed.countDown();
        }); AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(calls(backend).get("k").text()).isEqualTo("x");
            assertThat(closed.await(ScriptedBackend.LONG.toSeconds(), TimeUnit.SECONDS))
                    .as("closed while the backend is open")
                    .isTrue();
        }
    }
}
