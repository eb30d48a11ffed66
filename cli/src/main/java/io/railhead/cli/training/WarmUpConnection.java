package io.railhead.cli.training;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.util.Locale;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;

/**
 * A connection that sends one signed request after another, and drops the bodies. Far cheaper than
 * an HTTP client, whose own compilation would take the time of the gateway's. One thread.
 */
final class WarmUpConnection implements AutoCloseable {
    private static final int HITS = 32;
    private static final int BUFFER_BYTES = 64 << 10;
    /** A read that takes longer ends the connection. */
    private static final int TIMEOUT_MILLIS = 2000;
    private static final int MAX_HEAD_CHARS = 16 << 10;

    private final Socket socket;
    private final InputStream in;
    private final URI endpoint;
    private final AwsBasicCredentials key;
    private final int number;
    private final byte[] dropped = new byte[BUFFER_BYTES];
    private final byte[] smallHit;
    private final byte[] largeHit;
    private final byte[] head;
    private int cold;

    /** @param number of this connection among those that run beside it */
    WarmUpConnection(int port, AwsBasicCredentials key, int number) throws IOException {
        this.key = key;
        this.number = number;
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
        endpoint = URI.create("http://127.0.0.1:" + port);
        smallHit = signed(SdkHttpMethod.GET, "/warm/" + TrainingStore.SMALL + "hit");
        largeHit = signed(SdkHttpMethod.GET, "/warm/hit");
        head = signed(SdkHttpMethod.HEAD, "/warm/hit");
    }

    /** Sends some requests of each kind, until the time is over; returns their number. */
    int round(long end) throws IOException {
        int sent = 0;
        while (sent < HITS && System.nanoTime() < end) {
            exchange(smallHit, true);
            sent++;
        }
        exchange(largeHit, true);
        exchange(head, false);
        exchange(signed(SdkHttpMethod.GET, "/warm/cold-" + number + "-" + cold++), true);
        return sent + 3;
    }

    private byte[] signed(SdkHttpMethod method, String path) {
        SdkHttpRequest request = AwsV4HttpSigner.create()
                .sign(order -> order.identity(key)
                        .request(SdkHttpRequest.builder()
                                .method(method)
                                .uri(endpoint)
                                .encodedPath(path)
                                .build())
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false))
                .request();
        StringBuilder text = new StringBuilder(512).append(method)
                .append(' ')
                .append(path)
                .append(" HTTP/1.1\r\n");
        request.forEachHeader((name, values) -> values.forEach(value -> text.append(name)
                .append(": ")
                .append(value)
                .append("\r\n")));
        return text.append("\r\n").toString().getBytes(ISO_8859_1);
    }

    private void exchange(byte[] request, boolean withBody) throws IOException {
        socket.getOutputStream().write(request);
        long length = readHead();
        for (long left = withBody ? length : 0; left > 0;) {
            int read = in.read(dropped, 0, (int) Math.min(left, dropped.length));
            if (read < 0) {
                throw new EOFException("the response is cut");
            }
            left -= read;
        }
    }

    /** Reads a response's head, and returns the length of its body. */
    private long readHead() throws IOException {
        StringBuilder text = new StringBuilder(512);
        while (!endsWithEmptyLine(text)) {
            int next = in.read();
            if (next < 0 || text.length() > MAX_HEAD_CHARS) {
                throw new EOFException("no head of a response");
            }
            text.append((char) next);
        }
        String lower = text.toString().toLowerCase(Locale.ROOT);
        int start = lower.indexOf("\ncontent-length:");
        if (!lower.startsWith("http/1.1 200 ") || start < 0) {
            throw new IOException("not the expected response: " + text);
        }
        return Long.parseLong(lower.substring(start + "\ncontent-length:".length(),
                lower.indexOf('\r', start)).strip());
    }

    private static boolean endsWithEmptyLine(StringBuilder text) {
        int length = text.length();
        return length >= 4 && text.charAt(length - 1) == '\n' && text.charAt(length - 2) == '\r'
                && text.charAt(length - 3) == '\n';
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
