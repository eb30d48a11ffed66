package io.railhead.backend.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ServerSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * A store that says byte for byte what its script says, however wrong. The n-th request gets the
 * n-th script, later ones the last. Probes of an ejected endpoint are {@code HEAD /} and count too.
 */
public final class ScriptedStore implements AutoCloseable {

    /** A request as it came over the wire; its body may be cut short. */
    public static final class Received {
        private final String line;
        private final List<String> headers;
        private final byte[] body;

        private Received(String line, List<String> headers, byte[] body) {
            this.line = line;
            this.headers = headers;
            this.body = body;
        }

        /** Method, path and query, version. */
        public String line() {
            return line;
        }

        public List<String> headers() {
            return headers;
        }

        public byte[] body() {
            return body;
        }

        /** The first value, or null. */
        public @Nullable String header(String name) {
            for (String header : headers) {
                int colon = header.indexOf(':');
                if (colon > 0 && header.substring(0, colon).equalsIgnoreCase(name)) {
                    return header.substring(colon + 1).strip();
                }
            }
            return null;
        }
    }

    /** What to do with one request. */
    public interface Script {
        void play(Received request, Line line) throws IOException;

        /** Whether to ask for the body, if the request waits for that, and to read it. */
        default boolean wantsBody(Received head) {
            return true;
        }

        /** The same, played before the body. */
        static Script beforeBody(Script script) {
            return new Script() {
                @Override
                public void play(Received request, Line line) throws IOException {
                    script.play(request, line);
                }

                @Override
                public boolean wantsBody(Received head) {
                    return false;
                }
            };
        }

        /** Answers as given, and the connection stays. */
        static Script answer(String head, byte[] body) {
            return (request, line) -> line.write(head + "\r\n\r\n",
                    request.line().startsWith("HEAD ") ? new byte[0] : body);
        }

        /** A complete answer of this status. */
        static Script status(int status, String body) {
            return answer("HTTP/1.1 " + status + " Scripted\r\nContent-Length: " + body.length(),
                    body.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** The connection that a request came on. */
    public static final class Line {
        private final Socket socket;
        private final InputStream in;
        private final OutputStream out;

        private Line(Socket socket, InputStream in) throws IOException {
            this.socket = socket;
            this.in = in;
            this.out = socket.getOutputStream();
        }

        /** Reads so many bytes of a body, fewer only at its connection's end. */
        public byte[] read(int bytes) throws IOException {
            return in.readNBytes(bytes);
        }

        /**
         * Sends all of it at once: the kernel would hold back a second piece, and a reset drop it.
         */
        public void write(String head, byte[] body) throws IOException {
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            whole.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
            whole.writeBytes(body);
            whole.writeTo(out);
            out.flush();
        }

        /** Closes, with RST if bytes of the client's are left unread. */
        public void close() throws IOException {
            socket.close();
        }

        /** Says nothing more, which the client sees as FIN. */
        public void endOutput() throws IOException {
            socket.shutdownOutput();
        }

        /** Closes with RST. */
        public void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }

        /** Waits until the other side has closed, says nothing more, and counts what comes. */
        public long awaitClosed() throws IOException {
            return in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private final ServerSocket server;
    private final String scheme;
    private final List<Script> scripts;
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger begun = new AtomicInteger();

    public ScriptedStore(Script... scripts) {
        this(ServerSocketFactory.getDefault(), "http", 0, scripts);
    }

    public ScriptedStore(ServerSocketFactory sockets, String scheme, int port, Script... scripts) {
        this.scripts = List.of(scripts);
        this.scheme = scheme;
        try {
            server = sockets.createServerSocket(port, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("scripted-store").start(this::accept);
    }

    public URI endpoint() {
        return URI.create(scheme + "://127.0.0.1:" + server.getLocalPort());
    }

    public List<Received> received() {
        return received;
    }

    public int connections() {
        return connections.get();
    }

    /** How many clients have not closed yet. */
    public int openConnections() {
        return open.size();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                connections.incrementAndGet();
                open.add(socket);
                Thread.ofPlatform().daemon().name("scripted-line").start(() -> serve(socket));
            } catch (IOException _) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            Line line = new Line(socket, in);
            for (Received head = readHead(in); head != null; head = readHead(in)) {
                Script script = scripts.get(
                        Math.min(begun.getAndIncrement(), scripts.size() - 1));
                Received request = script.wantsBody(head) ? readBody(head, in, line) : head;
                received.add(request);
                script.play(request, line);
            }
        } catch (IOException _) {
            // the client went away, which some scripts are about
        } finally {
            open.remove(socket);
        }
    }

    private static @Nullable Received readHead(InputStream in) throws IOException {
        String first = readLine(in);
        if (first == null) {
            return null;
        }
        List<String> headers = new ArrayList<>();
        for (String header = readLine(in); header != null && !header.isEmpty(); header = readLine(
                in)) {
            headers.add(header);
        }
        return new Received(first, headers, new byte[0]);
    }

    private static Received readBody(Received head, InputStream in, Line line)
            throws IOException {
        if ("100-continue".equalsIgnoreCase(head.header("Expect"))) {
            line.write("HTTP/1.1 100 Continue\r\n\r\n", new byte[0]);
        }
        String length = head.header("Content-Length");
        byte[] body = length == null ? new byte[0] : in.readNBytes(Integer.parseInt(length));
        return new Received(head.line, head.headers, body);
    }

    private static @Nullable String readLine(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b == '\n') {
                return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
            }
            line.write(b);
        }
        return null;
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
