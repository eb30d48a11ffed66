package io.railhead.benchmarks.pagesize;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Locale;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/**
 * Ranged GETs on one connection that do as little as a client can: bytes are received and thrown
 * away, so that what is measured is the gateway. One thread.
 */
final class SignedGets implements AutoCloseable {
    static final String ACCESS_KEY = "AKIDEXAMPLE";
    static final String SECRET_KEY = "benchmark";

    private static final byte[] HEAD_END = "\r\n\r\n".getBytes(ISO_8859_1);

    private final URI uri;
    private final SocketChannel channel;
    private final ByteBuffer received = ByteBuffer.allocateDirect(1 << 20);

    private SignedGets(URI uri, SocketChannel channel) {
        this.uri = uri;
        this.channel = channel;
    }

    static SignedGets connect(URI uri) throws IOException {
        return new SignedGets(uri,
                SocketChannel.open(new InetSocketAddress(uri.getHost(), uri.getPort())));
    }

    /** Reads a range to its end; the answer's head in lower case. */
    String get(long from, int bytes) throws IOException {
        channel.write(ByteBuffer.wrap(request(from, bytes)));
        received.clear();
        int headEnd = -1;
        while (headEnd < 0) {
            receive();
            headEnd = headEnd();
        }
        byte[] head = new byte[headEnd];
        received.get(0, head);
        String text = new String(head, ISO_8859_1).toLowerCase(Locale.ROOT);
        if (!text.contains("content-length: " + bytes + "\r\n")) {
            throw new IOException("not the range: " + text);
        }
        int left = bytes - (received.position() - headEnd);
        while (left > 0) {
            received.clear();
            left -= receive();
        }
        return text;
    }

    private int receive() throws IOException {
        int count = channel.read(received);
        if (count < 0) {
            throw new EOFException("the gateway closed the connection");
        }
        return count;
    }

    /** Where the body starts; -1 if that has not come. */
    private int headEnd() {
        for (int at = 0; at + HEAD_END.length <= received.position(); at++) {
            int same = 0;
            while (same < HEAD_END.length && received.get(at + same) == HEAD_END[same]) {
                same++;
            }
            if (same == HEAD_END.length) {
                return at + same;
            }
        }
        return -1;
    }

    private byte[] request(long from, int bytes) {
        SdkHttpRequest unsigned = SdkHttpRequest.builder()
                .method(SdkHttpMethod.GET)
                .uri(uri)
                .putHeader("range", "bytes=" + from + "-" + (from + bytes - 1))
                .build();
        StringBuilder head = new StringBuilder("GET " + uri.getRawPath() + " HTTP/1.1\r\n");
        AwsV4HttpSigner.create()
                .sign(request -> request.request(unsigned)
                        .identity(AwsCredentialsIdentity.create(ACCESS_KEY, SECRET_KEY))
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4FamilyHttpSigner.NORMALIZE_PATH, false))
                .request()
                .forEachHeader((name, values) -> values.forEach(
                        value -> head.append(name).append(": ").append(value).append("\r\n")));
        return head.append("\r\n").toString().getBytes(ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
