package io.railhead.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A small S3 store whose objects, permissions and faults a test controls: GET with one range and
 * If-Match, HEAD, PUT, DELETE. It does not check signatures, only whose access key signed.
 */
public final class FakeStore implements AutoCloseable {
    private static final String PROBE = "GET / ";
    private static final Pattern ACCESS_KEY = Pattern.compile("Credential=([^/]+)/");
    private static final Pattern PART_NUMBER = Pattern.compile("(?:^|&)partNumber=(\\d{1,5})");
    private static final Pattern FIRST = Pattern.compile("bytes=(\\d+)-\\d*");
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d{1,18})-(\\d{1,18})");

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private @Nullable HttpServer server;
    private final Map<String, byte[]> objects = new ConcurrentHashMap<>();
    private final Map<String, String> metadata = new ConcurrentHashMap<>();
    private final Map<String, String> absent = new ConcurrentHashMap<>();
    private final Map<String, Integer> partBytes = new ConcurrentHashMap<>();
    private final Set<String> denied = ConcurrentHashMap.newKeySet();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<URI> targets = new CopyOnWriteArrayList<>();
    private final AtomicLong answers = new AtomicLong();
    private final FakeStoreUploads uploads = new FakeStoreUploads();
    private volatile byte @Nullable [] listing;
    private volatile BiPredicate<HttpExchange, byte[]> fault = (exchange, object) -> false;

    /** Starts the server when it is first asked: a test that is skipped has nothing to close. */
    public synchronized URI endpoint() {
        HttpServer started = server;
        if (started == null) {
            started = start();
            server = started;
        }
        return URI.create("http://127.0.0.1:" + started.getAddress().getPort());
    }

    private HttpServer start() {
        try {
            HttpServer created = HttpServer
                    .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            created.setExecutor(threads);
            created.createContext("/", this::handle);
            created.start();
            return created;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void put(String path, byte[] object) {
        objects.put(path, object);
    }

    /** It was uploaded in parts of so many bytes, the last one shorter. */
    public void parts(String path, int bytes) {
        partBytes.put(path, bytes);
    }

    /** A header that comes with every object from now on. */
    public void header(String name, String value) {
        metadata.put(name, value);
    }

    /** A header that comes with every 404 from now on. */
    public void absentHeader(String name, String value) {
        absent.put(name, value);
    }

    public void deny(String accessKey) {
        denied.add(accessKey);
    }

    /**
     * Every request so far, as "METHOD /path range-or-dash", but for a gateway's own probe, which
     * comes when it comes.
     */
    public List<String> requests() {
        return requests.stream().filter(request -> !request.startsWith(PROBE)).toList();
    }

    /** Those after so many. */
    public List<String> requestsAfter(int count) {
        List<String> all = requests();
        return all.subList(count, all.size());
    }

    /** Of the first request that begins so, from 1: what the store calls it in its answer. */
    public int numberOf(String prefix) {
        List<String> all = List.copyOf(requests);
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).startsWith(prefix)) {
                return i + 1;
            }
        }
        throw new AssertionError("no " + prefix + " among " + all);
    }

    /** The raw query of every request for this path so far, "" where there was none. */
    public List<String> queries(String path) {
        return targets.stream()
                .filter(target -> target.getRawPath().equals(path))
                .map(target -> target.getRawQuery() == null ? "" : target.getRawQuery())
                .toList();
    }

    /** For tests that go on for long. */
    public void forgetRequests() {
        requests.clear();
        targets.clear();
    }

    /** Of all requests, the probe too. */
    public long count(String prefix) {
        return requests.stream().filter(request -> request.startsWith(prefix)).count();
    }

    public byte @Nullable [] object(String path) {
        return objects.get(path);
    }

    public FakeStoreUploads uploads() {
        return uploads;
    }

    /** Sets the answer to each listing from now on. */
    public void listing(byte[] document) {
        listing = document;
    }

    /** Called before each object is answered; true if it answered, or broke off, itself. */
    public void fault(BiPredicate<HttpExchange, byte[]> newFault) {
        fault = newFault;
    }

    public static String etag(byte[] object) {
        try {
            return "\"" + HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(object))
                    + "\"";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getRawPath();
            String range = exchange.getRequestHeaders().getFirst("Range");
            targets.add(exchange.getRequestURI());
            exchange.getResponseHeaders()
                    .set("x-amz-request-id", "%016X".formatted(answers.incrementAndGet()));
            requests.add(
                    exchange.getRequestMethod() + " " + path + " " + (range == null ? "-" : range));
            if (isDenied(exchange)) {
                answer(exchange, 403, "<Error><Code>AccessDenied</Code></Error>".getBytes());
                return;
            }
            switch (exchange.getRequestMethod()) {
                case "PUT" -> store(exchange, path);
                case "POST" -> post(exchange, path);
                case "DELETE" -> {
                    if (query(exchange).isEmpty()) {
                        objects.remove(path);
                    }
                    exchange.sendResponseHeaders(204, -1);
                }
                default -> read(exchange, path, range);
            }
        }
    }

    private boolean isDenied(HttpExchange exchange) {
        String authorization = exchange.getRequestHeaders().getFirst("Authorization");
        Matcher matcher = ACCESS_KEY.matcher(authorization == null ? "" : authorization);
        return denied.contains(matcher.find() ? matcher.group(1) : "");
    }

    /** A completed upload becomes what completed it; all else is only acknowledged. */
    private void post(HttpExchange exchange, String path) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (fault.test(exchange, body)) {
            return;
        }
        String query = query(exchange);
        FakeStoreUploads.Whole whole = uploads.complete(query, body);
        if (whole != null) {
            objects.put(path, whole.bytes());
            answer(exchange, 200,
                    ("<Result><ETag>" + whole.etag() + "</ETag></Result>").getBytes());
        } else if (FakeStoreUploads.isOurs(query)) {
            answer(exchange, 404, "<Error><Code>NoSuchUpload</Code></Error>".getBytes());
        } else {
            if (query.startsWith("uploadId=")) {
                objects.put(path, body);
            }
            answer(exchange, 200,
                    (query.equals("uploads") ? uploads.begin() : "<Result/>").getBytes());
        }
    }

    private static String query(HttpExchange exchange) {
        String query = exchange.getRequestURI().getRawQuery();
        return query == null ? "" : query;
    }

    private void store(HttpExchange exchange, String path) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (fault.test(exchange, body)) {
            return;
        }
        String source = exchange.getRequestHeaders().getFirst("x-amz-copy-source");
        if (FakeStoreUploads.isOurs(query(exchange)) && !uploads.put(query(exchange), body)) {
            answer(exchange, 404, "<Error><Code>NoSuchUpload</Code></Error>".getBytes());
            return;
        }
        if (!query(exchange).isEmpty()) {
            // A part, or something of the object's that is not its bytes.
            exchange.getResponseHeaders().set("ETag", etag(body));
            exchange.sendResponseHeaders(200, -1);
            return;
        }
        if (source != null) {
            objects.put(path, objects.get(source));
            answer(exchange, 200, "<CopyObjectResult/>".getBytes());
            return;
        }
        objects.put(path, body);
        exchange.getResponseHeaders().set("ETag", etag(body));
        exchange.sendResponseHeaders(200, -1);
    }

    /** ListObjectsV2, in pages of two: the token is the last key of the page before. */
    private void list(HttpExchange exchange, String bucket) throws IOException {
        Map<String, String> query = new HashMap<>();
        for (String parameter : exchange.getRequestURI().getRawQuery().split("&", -1)) {
            String[] parts = parameter.split("=", 2);
            query.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        String after = query.getOrDefault("continuation-token",
                query.getOrDefault("start-after", ""));
        List<String> keys = objects.keySet()
                .stream()
                .filter(path -> path.startsWith(bucket + "/"))
                .map(path -> URLDecoder.decode(path.substring(bucket.length() + 1),
                        StandardCharsets.UTF_8))
                .filter(key -> key.startsWith(query.getOrDefault("prefix", ""))
                        && key.compareTo(after) > 0)
                .sorted()
                .toList();
        StringBuilder xml = new StringBuilder("<ListBucketResult><Name>b</Name>");
        List<String> page = keys.subList(0, Math.min(2, keys.size()));
        for (String key : page) {
            byte[] object = objects.getOrDefault(bucket + "/" + key.replace(" ", "%20"),
                    new byte[0]);
            xml.append("<Contents><Key>" + key + "</Key><ETag>" + etag(object)
                    + "</ETag><Owner><ID>o</ID></Owner><Size>" + object.length
                    + "</Size></Contents>");
        }
        if (page.size() < keys.size()) {
            xml.append("<IsTruncated>true</IsTruncated><NextContinuationToken>" + page.getLast()
                    + "</NextContinuationToken>");
        }
        answer(exchange, 200, xml.append("</ListBucketResult>").toString().getBytes());
    }

    private void read(HttpExchange exchange, String path, String range) throws IOException {
        if (query(exchange).contains("list-type=2") && path.indexOf('/', 1) < 0) {
            byte[] instead = listing;
            if (instead == null) {
                list(exchange, path);
            } else {
                answer(exchange, 200, instead);
            }
            return;
        }
        byte[] object = objects.get(path);
        if (object == null) {
            absent.forEach(exchange.getResponseHeaders()::set);
            answer(exchange, 404, "<Error><Code>NoSuchKey</Code></Error>".getBytes());
            return;
        }
        String ifMatch = exchange.getRequestHeaders().getFirst("If-Match");
        if (ifMatch != null && !ifMatch.equals(etag(object))) {
            answer(exchange, 412, "<Error><Code>PreconditionFailed</Code></Error>".getBytes());
            return;
        }
        if (fault.test(exchange, object)) {
            return;
        }
        String ifNoneMatch = exchange.getRequestHeaders().getFirst("If-None-Match");
        if (ifNoneMatch != null && ifNoneMatch.equals(etag(object))) {
            exchange.getResponseHeaders().set("ETag", etag(object));
            exchange.sendResponseHeaders(304, -1);
            return;
        }
        exchange.getResponseHeaders().set("ETag", etag(object));
        exchange.getResponseHeaders().set("Last-Modified", "Fri, 20 Nov 2026 00:00:00 GMT");
        metadata.forEach(exchange.getResponseHeaders()::set);
        Matcher part = PART_NUMBER.matcher(query(exchange));
        if (part.find()) {
            part(exchange, object, Integer.parseInt(part.group(1)),
                    partBytes.getOrDefault(path, object.length));
            return;
        }
        if (range != null && isBehind(range, object.length)) {
            answer(exchange, 416, "<Error><Code>InvalidRange</Code></Error>".getBytes());
            return;
        }
        Matcher matcher = RANGE.matcher(range == null ? "" : range);
        if (!matcher.matches()) {
            answer(exchange, 200, object);
            return;
        }
        long from = Long.parseLong(matcher.group(1));
        int last = (int) Math.min(object.length - 1, Long.parseLong(matcher.group(2)));
        if (from > Long.parseLong(matcher.group(2))) {
            answer(exchange, 200, object);
            return;
        }
        int first = (int) Math.min(from, object.length);
        if (first >= object.length) {
            answer(exchange, 416, "<Error><Code>InvalidRange</Code></Error>".getBytes());
            return;
        }
        exchange.getResponseHeaders()
                .set("Content-Range", "bytes " + first + "-" + last + "/" + object.length);
        answer(exchange, 206, Arrays.copyOfRange(object, first, last + 1));
    }

    private static void part(HttpExchange exchange, byte[] object, int number, int bytes)
            throws IOException {
        int from = (number - 1) * bytes;
        int to = Math.min(object.length, from + bytes);
        if (from >= to) {
            answer(exchange, 416, "<Error><Code>InvalidPartNumber</Code></Error>".getBytes());
            return;
        }
        int count = (object.length + bytes - 1) / bytes;
        if (count > 1) {
            exchange.getResponseHeaders().set("x-amz-mp-parts-count", Integer.toString(count));
        }
        exchange.getResponseHeaders()
                .set("Content-Range", "bytes " + from + "-" + (to - 1) + "/" + object.length);
        answer(exchange, 206, Arrays.copyOfRange(object, from, to));
    }

    /** Of numbers of any length; and of no last bytes. */
    private static boolean isBehind(String range, int size) {
        Matcher first = FIRST.matcher(range);
        return range.equals("bytes=-0") || (first.matches()
                && new BigInteger(first.group(1)).compareTo(BigInteger.valueOf(size)) >= 0);
    }

    /** Without a body; for faults. */
    public static void answerQuietly(HttpExchange exchange, int status) {
        try {
            exchange.sendResponseHeaders(status, -1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Answers with a document. */
    public static void answerQuietly(HttpExchange exchange, int status, String document) {
        try {
            answer(exchange, status, document.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(status, -1);
            return;
        }
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public synchronized void close() {
        if (server != null) {
            server.stop(0);
        }
        threads.shutdownNow();
    }
}
