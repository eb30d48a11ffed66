package io.railhead.gateway.frontdoor;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A connection on which a test writes whatever it likes, well-formed or not. */
public final class RawConnection implements AutoCloseable {
    private static final int GIVE_UP_MILLIS = 20_000;

    private final Socket socket;
    private final InputStream in;

    public RawConnection(URI endpoint) {
        try {
            socket = new Socket(endpoint.getHost(), endpoint.getPort());
            socket.setSoTimeout(GIVE_UP_MILLIS);
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An answer; header names in lower case, the last of equal ones. */
    public record Answer(int status, Map<String, String> headers, String body) {}

    /** A signed request's head as it goes over the wire, without its last empty line. */
    public static String head(HttpRequest request, String... more) {
        URI uri = request.uri();
        StringBuilder head = new StringBuilder(request.method()).append(' ')
                .append(uri.getRawPath())
                .append(uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery())
                .append(" HTTP/1.1\r\nHost: ")
                .append(uri.getAuthority())
                .append("\r\n");
        request.headers()
                .map()
                .forEach((name, values) -> values.forEach(
                        value -> head.append(name).append(": ").append(value).append("\r\n")));
        for (String line : more) {
            head.append(line).append("\r\n");
        }
        return head.toString();
    }

    public RawConnection send(String text) {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawConnection send(byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends until it is all sent or the peer no longer takes it. */
    public RawConnection sendWhilePossible(byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            // The peer has closed: what it said before can still be read.
        }
        return this;
    }

    public Answer receive() {
        Answer head = receiveHead();
        int length = Integer.parseInt(head.headers().getOrDefault("content-length", "0"));
        return new Answer(head.status(), head.headers(),
                new String(read(length), StandardCharsets.UTF_8));
    }

    /** An answer whose body is left for {@link #read}. */
    public Answer receiveHead() {
        try {
            String status = line();
            Map<String, String> headers = new TreeMap<>();
            for (String line = line(); !line.isEmpty(); line = line()) {
                int colon = line.indexOf(':');
                headers.put(line.substring(0, colon).toLowerCase(Locale.ROOT),
                        line.substring(colon + 1).strip());
            }
            return new Answer(Integer.parseInt(status.split(" ", 3)[1]), headers, "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new IOException("closed after '" + line + "'");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    /** So many bytes of a body. */
    public byte[] read(int bytes) {
        try {
            return in.readNBytes(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether the peer ends the connection, whatever it still sends, before a deadline. */
    public boolean isClosedByPeer() {
        try {
            in.skipNBytes(Long.MAX_VALUE);
            return false;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** Without a goodbye, as when a process dies. */
    public void reset() {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
