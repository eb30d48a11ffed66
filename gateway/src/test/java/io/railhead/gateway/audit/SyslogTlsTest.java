package io.railhead.gateway.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.TestCertificates;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.config.AuditConfig;
import io.railhead.gateway.config.ListenAddress;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The syslog destination, against a server that reads RFC 5425's frames. */
class SyslogTlsTest {
    private static final Pattern MESSAGE = Pattern.compile(
            "<(\\d+)>1 \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z rack-1 railhead \\d+"
                    + " (\\w+) - (\\{.*\\})");
    private static final AuditEvent EVENT = AuditEvent
            .refused(AuditKind.LOGIN_REFUSED, "X", "é\nline")
            .by("p", "t", "10.0.0.1");

    @TempDir
    static Path folder;

    private static TestCertificates certificates;
    private static final Vertx VERTX = Vertx.vertx();

    private @Nullable Server server;
    private @Nullable SyslogTls syslog;

    @BeforeAll
    static void createCertificates() throws Exception {
        certificates = new TestCertificates(folder).create("server", "EC")
                .create("client", "EC")
                .create("other", "EC");
    }

    @AfterAll
    static void closeVertx() {
        VERTX.close().toCompletionStage().toCompletableFuture().join();
    }

    @AfterEach
    void close() throws IOException {
        if (syslog != null) {
            syslog.close();
        }
        if (server != null) {
            server.close();
        }
    }

    /** A syslog server that requires a client's certificate. */
    private static final class Server implements AutoCloseable {
        private final SSLServerSocket listening;
        private final List<String> messages = new CopyOnWriteArrayList<>();
        private volatile @Nullable SSLSocket open;

        Server(int port) throws Exception {
            listening = (SSLServerSocket) certificates.context(List.of("client"), "server")
                    .getServerSocketFactory()
                    .createServerSocket(port, 5, InetAddress.getLoopbackAddress());
            listening.setNeedClientAuth(true);
            Thread.ofVirtual().start(this::accept);
        }

        int port() {
            return listening.getLocalPort();
        }

        private void accept() {
            while (!listening.isClosed()) {
                try (SSLSocket socket = (SSLSocket) listening.accept()) {
                    open = socket;
                    read(socket.getInputStream());
                } catch (IOException e) {
                    // A client that was refused, or the end of the test.
                }
            }
        }

        private void read(InputStream in) throws IOException {
            while (true) {
                int length = 0;
                int read = in.read();
                for (; read >= '0' && read <= '9'; read = in.read()) {
                    length = length * 10 + read - '0';
                }
                if (read != ' ') {
                    return;
                }
                messages.add(new String(in.readNBytes(length), StandardCharsets.UTF_8));
            }
        }

        void hangUp() throws IOException {
            SSLSocket socket = open;
            if (socket != null) {
                socket.close();
            }
        }

        @Override
        public void close() throws IOException {
            listening.close();
            hangUp();
        }
    }

    private SyslogTls connect(String host, String ca, @Nullable String own) {
        SyslogTls made = new SyslogTls(
                new AuditConfig.Syslog(new ListenAddress(host, started().port()),
                        certificates.certificate(ca),
                        own == null
                                ? null
                                : new AuditConfig.KeyPair(certificates.certificate(own),
                                        certificates.key(own))),
                VERTX, "rack 1");
        syslog = made;
        return made;
    }

    private Server started() {
        try {
            Server started = server == null ? new Server(0) : server;
            server = started;
            return started;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void messagesAreFramedByTheirOctets() throws Exception {
        SyslogTls to = connect("127.0.0.1", "server", "client");
        String json = new OcsfLine("rack 1", "").of(EVENT, 7);
        for (int i = 0; i < 3; i++) {
            to.write(EVENT, json);
        }
        TestGateway.await(() -> started().messages.size() == 3);
        var message = MESSAGE.matcher(started().messages.getFirst());
        assertThat(message.matches()).as(started().messages.getFirst()).isTrue();
        assertThat(message.group(1)).as("log audit, warning").isEqualTo("108");
        assertThat(message.group(2)).isEqualTo("login_refused");
        assertThat(new JsonObject(message.group(3)).getString("message")).isEqualTo("é\nline");
    }

    @Test
    void aServerOfAnotherAuthorityOrNameIsRefused() {
        assertThatThrownBy(() -> connect("127.0.0.1", "other", "client").write(EVENT, "{}"))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> connect("localhost", "server", "client").write(EVENT, "{}"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("localhost");
        assertThat(started().messages).isEmpty();
    }

    @Test
    void aConnectionThatTheServerHasClosedIsMadeAgainBeforeTheNextEvent() throws Exception {
        SyslogTls to = connect("127.0.0.1", "server", "client");
        to.write(EVENT, "{\"n\":1}");
        TestGateway.await(() -> started().messages.size() == 1);
        started().hangUp();
        // Longer than the time in which a connection counts as open without a look.
        Thread.sleep(200);
        to.write(EVENT, "{\"n\":2}");
        TestGateway.await(() -> started().messages.size() == 2);
    }

    @Test
    void aCloseEndsAConnectionThatIsBeingMade() throws Exception {
        SyslogTls to = connect("127.0.0.1", "server", "client");
        to.close();
        assertThatThrownBy(() -> to.write(EVENT, "{}")).isInstanceOf(IOException.class);
    }
}
