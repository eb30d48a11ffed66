package io.railhead.backend.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An HTTP proxy that tunnels whatever it is asked to connect to, to one place. */
public final class ConnectProxy implements AutoCloseable {
    private final ServerSocket server;
    private final URI target;
    private final int status;
    private final List<String> heads = new CopyOnWriteArrayList<>();

    public ConnectProxy(URI target) {
        this(target, 200);
    }

    /** @param status what each CONNECT is answered with */
    public ConnectProxy(URI target, int status) {
        this.target = target;
        this.status = status;
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("connect-proxy").start(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    /** The requests to connect, each with its headers. */
    public List<String> heads() {
        return heads;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException _) {
                return; // closed
            }
        }
    }

    private void serve(Socket client) {
        try (client; Socket store = new Socket(target.getHost(), target.getPort())) {
            heads.add(head(client.getInputStream()));
            client.getOutputStream()
                    .write(("HTTP/1.1 " + status + " Said\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            if (status != 200) {
                return;
            }
            Thread back = Thread.ofVirtual().start(() -> pump(store, client));
            pump(client, store);
            back.join();
        } catch (IOException _) {
            // one side went away
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void pump(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
            to.shutdownOutput();
        } catch (IOException _) {
            // one side went away
        }
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("closed");
            }
            head.append((char) next);
        }
        return head.toString();
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
