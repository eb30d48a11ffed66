package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * A store of uploads in a test's hands: it counts what it is sent, and dies when it is told to. One
 * request at a time; what is shared is guarded by this.
 */
final class FakeUploads implements AutoCloseable {
    /** Of {@code ListParts}: small, so that there is a next one. */
    private static final int PAGE_PARTS = 2;
    private static final Pattern LISTED = Pattern
            .compile("<PartNumber>(\\d+)</PartNumber><ETag>([^<]*)</ETag>");

    /** What the store says of a part's bytes. */
    enum Proof {
        MD5_ETAG,
        CRC32C,
        NONE
    }

    final Map<String, byte[]> objects = new HashMap<>();
    final NavigableMap<String, NavigableMap<Integer, byte[]>> uploads = new TreeMap<>();
    Proof proof = Proof.MD5_ETAG;
    /** How many parts it takes before it drops the connections of all further ones. */
    int takes = Integer.MAX_VALUE;
    /** Answers each request of this method with a refusal, if not empty. */
    String refuses = "";
    boolean completes = true;
    /** Drops the connection once an upload is complete. */
    boolean hangsUp;
    boolean advances = true;
    private long partBytes;
    private int parts;
    private int begun;
    int aborts;

    private final HttpServer server;

    FakeUploads() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::handle);
        server.start();
    }

    ClientConfig config() {
        return ClientConfig.of(URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
                "us-east-1", StaticCredentialsProvider
                        .create(AwsBasicCredentials.create("AKID", "secret")));
    }

    /** Of parts that were taken since it was last asked. */
    synchronized long partBytes() {
        long bytes = partBytes;
        partBytes = 0;
        parts = 0;
        return bytes;
    }

    private synchronized void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String key = exchange.getRequestURI().getPath();
            String method = exchange.getRequestMethod();
            Map<String, String> query = query(exchange);
            byte[] body = exchange.getRequestBody().readAllBytes();
            String id = query.getOrDefault("uploadId", "");
            NavigableMap<Integer, byte[]> there = uploads.get(id);
            aborts += method.equals("DELETE") ? 1 : 0;
            if (method.equals(refuses)) {
                refuse(exchange, 403, "AccessDenied");
            } else if (query.containsKey("uploads")) {
                String fresh = "up/load+" + ++begun;
                uploads.put(fresh, new TreeMap<>());
                send(exchange, "<R><UploadId>" + fresh + "</UploadId></R>");
            } else if (id.isEmpty()) {
                objects.put(key, body);
                exchange.getResponseHeaders().set("ETag", md5(body));
                send(exchange, "");
            } else if (there == null) {
                refuse(exchange, 404, "NoSuchUpload");
            } else {
                ofUpload(exchange, method, there, query, body);
            }
        }
    }

    private void ofUpload(HttpExchange exchange, String method,
            NavigableMap<Integer, byte[]> there,
            Map<String, String> query, byte[] body) throws IOException {
        String id = query.getOrDefault("uploadId", "");
        switch (method) {
            case "PUT" -> {
                // Without an answer: the connection is dropped.
                if (parts < takes) {
                    parts++;
                    partBytes += body.length;
                    there.put(Integer.valueOf(query.getOrDefault("partNumber", "")), body);
                    exchange.getResponseHeaders().set("ETag", etag(body));
                    send(exchange, "");
                }
            }
            case "GET" -> send(exchange,
                    page(there, Integer.parseInt(query.getOrDefault("part-number-marker", "0"))));
            case "DELETE" -> {
                uploads.remove(id);
                send(exchange, "");
            }
            default -> complete(exchange, there, id, new String(body, UTF_8));
        }
    }

    private String page(NavigableMap<Integer, byte[]> there, int after) {
        NavigableMap<Integer, byte[]> rest = there.tailMap(after, false);
        StringBuilder xml = new StringBuilder("<ListPartsResult>");
        int last = after;
        for (Map.Entry<Integer, byte[]> entry : rest.entrySet()
                .stream()
                .limit(PAGE_PARTS)
                .toList()) {
            byte[] part = entry.getValue();
            xml.append("<Part><PartNumber>")
                    .append(entry.getKey())
                    .append("</PartNumber><ETag>")
                    .append(etag(part).replace("\"", "&quot;"))
                    .append("</ETag>");
            if (proof == Proof.CRC32C) {
                xml.append("<ChecksumCRC32C>").append(crc32c(part)).append("</ChecksumCRC32C>");
            }
            xml.append("<Size>").append(part.length).append("</Size></Part>");
            last = entry.getKey();
        }
        return xml.append("<NextPartNumberMarker>")
                .append(advances ? last : after)
                .append("</NextPartNumberMarker><IsTruncated>")
                .append(rest.size() > PAGE_PARTS)
                .append("</IsTruncated></ListPartsResult>")
                .toString();
    }

    private void complete(HttpExchange exchange, NavigableMap<Integer, byte[]> there,
            String id, String listed) throws IOException {
        if (!completes) {
            send(exchange, "<Error><Code>InternalError</Code></Error>");
            return;
        }
        ByteArrayOutputStream object = new ByteArrayOutputStream();
        List<MatchResult> named = LISTED.matcher(listed).results().toList();
        for (MatchResult part : named) {
            byte[] bytes = there.get(Integer.valueOf(part.group(1)));
            if (bytes == null || !etag(bytes).equals(part.group(2))) {
                refuse(exchange, 400, "InvalidPart");
                return;
            }
            object.write(bytes);
        }
        uploads.remove(id);
        objects.put(exchange.getRequestURI().getPath(), object.toByteArray());
        if (hangsUp) {
            return;
        }
        send(exchange, "<R><ETag>&quot;whole-" + named.size() + "&quot;</ETag></R>");
    }

    private String etag(byte[] part) {
        return proof == Proof.MD5_ETAG ? md5(part) : "\"opaque-" + part.length + "\"";
    }

    private static String md5(byte[] bytes) {
        try {
            return "\"" + HexFormat.of()
                    .formatHex(MessageDigest.getInstance("MD5").digest(bytes)) + "\"";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    private static Map<String, String> query(HttpExchange exchange) {
        Map<String, String> query = new HashMap<>();
        String text = exchange.getRequestURI().getQuery();
        for (String pair : text == null ? new String[0] : text.split("&", -1)) {
            int equals = pair.indexOf('=');
            query.put(equals < 0 ? pair : pair.substring(0, equals),
                    equals < 0 ? "" : pair.substring(equals + 1));
        }
        return query;
    }

    private static void refuse(HttpExchange exchange, int status, String code)
            throws IOException {
        byte[] document = ("<Error><Code>" + code + "</Code></Error>").getBytes(UTF_8);
        exchange.sendResponseHeaders(status, document.length);
        exchange.getResponseBody().write(document);
    }

    private static void send(HttpExchange exchange, String document) throws IOException {
        byte[] body = document.getBytes(UTF_8);
        exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
