package io.railhead.benchmarks.channel;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A store with one object of zeros, without authentication: GET of one range, HEAD. */
final class OneObjectStore implements AutoCloseable {
    public static final String PATH = "/models/shard";

    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");
    private static final byte[] CHUNK = new byte[1 << 16];

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final long objectBytes;

    private OneObjectStore(HttpServer server, long objectBytes) {
        this.server = server;
        this.objectBytes = objectBytes;
    }

    public static OneObjectStore start(long objectBytes) throws IOException {
        HttpServer server = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        OneObjectStore store = new OneObjectStore(server, objectBytes);
        server.setExecutor(store.threads);
        server.createContext("/", store::handle);
        server.start();
        return store;
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!exchange.getRequestURI().getPath().equals(PATH)) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            exchange.getResponseHeaders().set("ETag", "\"1\"");
            exchange.getResponseHeaders().set("Last-Modified", "Fri, 20 Nov 2026 00:00:00 GMT");
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.getResponseHeaders().set("Content-Length", Long.toString(objectBytes));
                exchange.sendResponseHeaders(200, -1);
                return;
            }
            send(exchange);
        }
    }

    private void send(HttpExchange exchange) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        Matcher matcher = RANGE.matcher(range == null ? "" : range);
        long first = 0;
        long last = objectBytes - 1;
        if (matcher.matches()) {
            first = Long.parseLong(matcher.group(1));
            last = Math.min(last, Long.parseLong(matcher.group(2)));
            exchange.getResponseHeaders()
                    .set("Content-Range", "bytes " + first + "-" + last + "/" + objectBytes);
        }
        exchange.sendResponseHeaders(matcher.matches() ? 206 : 200, last - first + 1);
        for (long left = last - first + 1; left > 0; left -= CHUNK.length) {
            exchange.getResponseBody().write(CHUNK, 0, (int) Math.min(left, CHUNK.length));
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
