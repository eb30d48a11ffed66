package io.railhead.cli.doctor;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ServerSocketFactory;

/**
 * As much of an S3 store as a doctor asks for: one bucket, data, with one object; and its faults.
 */
public final class SmallStore implements AutoCloseable {
    private static final int TLS_HANDSHAKE = 22;

    private final ServerSocket server;
    private final String scheme;
    private final List<String> methods = new CopyOnWriteArrayList<>();
    private volatile Duration ahead = Duration.ZERO;
    private volatile String refusal = "";
    private volatile boolean ignoresIfMatch;
    private volatile boolean pages;

    public SmallStore() {
        this(ServerSocketFactory.getDefault(), "http");
    }

    public SmallStore(ServerSocketFactory sockets, String scheme) {
        this.scheme = scheme;
        try {
            server = sockets.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("small-store").start(this::accept);
    }

    public String endpoint() {
        return scheme + "://127.0.0.1:" + server.getLocalPort();
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Its clock, against the machine's. */
    public SmallStore ahead(Duration by) {
        ahead = by;
        return this;
    }

    /** What every signed request is refused with, such as {@code 403 AccessDenied}. */
    public SmallStore refuses(String statusAndCode) {
        refusal = statusAndCode;
        return this;
    }

    /** Pages for people instead of S3, as on a store's console. */
    public SmallStore pages() {
        pages = true;
        return this;
    }

    public SmallStore ignoresIfMatch() {
        ignoresIfMatch = true;
        return this;
    }

    /** Of every request so far. */
    public List<String> methods() {
        return methods;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                Thread.ofPlatform().daemon().name("small-line").start(() -> serve(socket));
            } catch (IOException _) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
            OutputStream out = socket.getOutputStream();
            in.mark(1);
            if (in.read() == TLS_HANDSHAKE) {
                out.write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(US_ASCII));
                return;
            }
            in.reset();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                List<String> headers = new ArrayList<>();
                for (String header = in.readLine(); header != null
                        && !header.isEmpty(); header = in.readLine()) {
                    headers.add(header.toLowerCase(Locale.ROOT));
                }
                out.write(answer(line.split(" ", 3), headers).getBytes(US_ASCII));
                out.flush();
            }
        } catch (IOException _) {
            // the client went away
        }
    }

    private String answer(String[] line, List<String> headers) {
        String method = line[0];
        String path = line.length > 1 ? line[1] : "";
        methods.add(method);
        if (pages) {
            return whole(method, "200 OK\r\nContent-Type: text/html", "<html></html>");
        }
        if (!has(headers, "authorization:")) {
            return whole(method, "403 Forbidden", "<Error><Code>AccessDenied</Code></Error>");
        }
        if (!refusal.isEmpty()) {
            return whole(method, refusal.substring(0, 4) + "No",
                    "<Error><Code>" + refusal.substring(4) + "</Code></Error>");
        }
        if (path.equals("/data/object")) {
            return object(method, headers);
        }
        return path.matches("/(data/?)?(\\?.*)?")
                ? whole(method, "200 OK", "<List><Name>data</Name><Contents><Key>object</Key>"
                        + "<Size>1000</Size></Contents></List>")
                : whole(method, "404 No", "<Error><Code>NoSuchBucket</Code></Error>");
    }

    private String object(String method, List<String> headers) {
        if (has(headers, "if-none-match:")) {
            return "HTTP/1.1 304 Not Modified\r\n" + date() + "\r\n";
        }
        if (method.equals("HEAD")) {
            return "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"e\"\r\n" + date() + "\r\n";
        }
        return has(headers, "if-match:") && !ignoresIfMatch
                ? whole(method, "412 No", "")
                : "HTTP/1.1 206 Partial\r\nContent-Length: 3\r\nETag: \"e\"\r\n"
                        + "Content-Range: bytes 1-3/1000\r\n" + date() + "\r\nabc";
    }

    private static boolean has(List<String> headers, String name) {
        return headers.stream().anyMatch(header -> header.startsWith(name));
    }

    private String whole(String method, String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Length: " + body.length() + "\r\n" + date()
                + "\r\n" + (method.equals("HEAD") ? "" : body);
    }

    private String date() {
        return "Date: " + DateTimeFormatter.RFC_1123_DATE_TIME
                .format(ZonedDateTime.now(ZoneOffset.UTC).plus(ahead)) + "\r\n";
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
