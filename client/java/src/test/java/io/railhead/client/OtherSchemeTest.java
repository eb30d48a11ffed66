package io.railhead.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * A port that is asked over TLS and speaks cleartext; the other way round is AdminCommandTest's.
 */
class OtherSchemeTest {

    @Test
    void aPortWithoutTlsIsTold() throws IOException {
        try (ServerSocket plain = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> answer(plain));
            URI endpoint = URI.create("https://127.0.0.1:" + plain.getLocalPort());
            ClientConfig config = ClientConfig.of(endpoint, "us-east-1",
                    StaticCredentialsProvider.create(AwsBasicCredentials.create("AK", "SK")));
            try (S3Http http = new S3Http(config)) {
                assertThatThrownBy(() -> http.send(
                        http.sign(Call.to(SdkHttpMethod.GET, new ObjectName("b", "k")))))
                        .isInstanceOf(ConnectException.class)
                        .hasMessage(endpoint + " speaks no TLS: use http://127.0.0.1:"
                                + plain.getLocalPort());
            }
        }
    }

    /** The question would cost each retry two seconds where the port hangs. */
    @Test
    void aPortThatHasAnsweredIsNotAskedForItsScheme() throws IOException {
        AtomicInteger connections = new AtomicInteger();
        try (ServerSocket plain = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> answerOnce(plain, connections));
            ClientConfig config = ClientConfig.of(
                    URI.create("http://127.0.0.1:" + plain.getLocalPort()), "us-east-1",
                    StaticCredentialsProvider.create(AwsBasicCredentials.create("AK", "SK")));
            try (S3Http http = new S3Http(config)) {
                Call call = Call.to(SdkHttpMethod.GET, new ObjectName("b", "k"));
                http.send(http.sign(call)).close();
                int before = connections.get();
                assertThatThrownBy(() -> http.send(http.sign(call)))
                        .isInstanceOf(IOException.class);
                // The JDK itself sends a GET twice.
                assertThat(connections.get() - before).isBetween(1, 2);
            }
        }
    }

    private static void answerOnce(ServerSocket plain, AtomicInteger connections) {
        while (!plain.isClosed()) {
            try (Socket socket = plain.accept()) {
                if (connections.getAndIncrement() == 0) {
                    int _ = socket.getInputStream().read();
                    socket.getOutputStream()
                            .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                                    .getBytes(US_ASCII));
                } else {
                    int _ = socket.getInputStream().read(new byte[4096]);
                }
            } catch (IOException _) {
                // The test is over, or the client left.
            }
        }
    }

    @Test
    void anotherFailureIsNotTheSchemes() {
        assertThat(OtherScheme.findFault(URI.create("https://127.0.0.1:1"),
                new ConnectException("Connection refused"))).isNull();
        assertThat(OtherScheme.findFault(URI.create("http://127.0.0.1:1"),
                new ConnectException("Connection refused"))).isNull();
    }

    private static void answer(ServerSocket plain) {
        while (!plain.isClosed()) {
            try (Socket socket = plain.accept()) {
                int _ = socket.getInputStream().read();
                socket.getOutputStream()
                        .write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(US_ASCII));
            } catch (IOException _) {
                // The test is over, or the client left.
            }
        }
    }
}
