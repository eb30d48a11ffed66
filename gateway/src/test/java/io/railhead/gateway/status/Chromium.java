package io.railhead.gateway.status;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A headless Chromium with one page, driven over its DevTools protocol. */
final class Chromium implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path profile;
    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();
    private final WebSocket page;
    private final AtomicInteger lastId = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonObject>> pending = new ConcurrentHashMap<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final List<String> requested = new CopyOnWriteArrayList<>();

    /** The program: {@code CHROMIUM} if that is set, else what the path has. */
    static Optional<Path> program() {
        String named = System.getenv("CHROMIUM");
        Stream<Path> candidates = named != null
                ? Stream.of(Path.of(named))
                : Stream.of(Objects.requireNonNullElse(System.getenv("PATH"), "").split(":"))
                        .flatMap(folder -> Stream.of("chromium", "chromium-browser",
                                "google-chrome")
                                .map(name -> Path.of(folder, name)));
        return candidates.filter(Files::isExecutable).findFirst();
    }

    Chromium(Path program) {
        try {
            profile = Files.createTempDirectory("railhead-chromium");
            process = new ProcessBuilder(program.toString(), "--headless=new", "--no-sandbox",
                    "--disable-gpu", "--disable-quic", "--no-first-run",
                    "--disable-background-networking", "--disable-component-update",
                    "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
                    "--remote-debugging-port=0", "--user-data-dir=" + profile, "about:blank")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            Path port = profile.resolve("DevToolsActivePort");
            await(() -> lines(port) >= 2);
            page = open(Integer.parseInt(Files.readAllLines(port).getFirst()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Stream.of("Page", "Runtime", "Log", "Network")
                .forEach(domain -> call(domain + ".enable", new JsonObject()));
    }

    private static int lines(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file).size() : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    private WebSocket open(int port) {
        String answer = http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/list"))
                        .build(),
                HttpResponse.BodyHandlers.ofString()).join().body();
        URI debugger = new JsonArray(answer).stream()
                .map(JsonObject.class::cast)
                .filter(target -> target.getString("type").equals("page"))
                .map(target -> URI.create(target.getString("webSocketDebuggerUrl")))
                .findFirst()
                .orElseThrow();
        return http.newWebSocketBuilder().buildAsync(debugger, new Messages()).join();
    }

    /** Puts fragments together, and hands answers to those who wait for them. */
    private final class Messages implements WebSocket.Listener {
        private final StringBuilder fragments = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence text,
                boolean last) {
            fragments.append(text);
            if (last) {
                JsonObject message = new JsonObject(fragments.toString());
                fragments.setLength(0);
                take(message);
            }
            socket.request(1);
            return null;
        }
    }

    private void take(JsonObject message) {
        Integer id = message.getInteger("id");
        if (id == null) {
            listen(message.getString("method"), message.getJsonObject("params"));
            return;
        }
        CompletableFuture<JsonObject> waiting = pending.remove(id);
        if (waiting != null && message.containsKey("error")) {
            waiting.completeExceptionally(new IllegalStateException(message.encode()));
        } else if (waiting != null) {
            waiting.complete(message.getJsonObject("result"));
        }
    }

    private void listen(String method, JsonObject event) {
        boolean complains = switch (method) {
            case "Runtime.exceptionThrown" -> true;
            case "Runtime.consoleAPICalled" -> !event.getString("type").equals("log");
            case "Log.entryAdded" ->
                !event.getJsonObject("entry").getString("level").equals("info");
            default -> false;
        };
        if (complains) {
            complaints.add(method + " " + event.encode());
        }
        if (method.equals("Network.requestWillBeSent")) {
            requested.add(event.getJsonObject("request").getString("url"));
        }
    }

    JsonObject call(String method, JsonObject parameters) {
        int id = lastId.incrementAndGet();
        CompletableFuture<JsonObject> answer = new CompletableFuture<>();
        pending.put(id, answer);
        page.sendText(new JsonObject().put("id", id)
                .put("method", method)
                .put("params", parameters)
                .encode(), true).join();
        return answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    /** Errors and warnings of the console so far. */
    List<String> complaints() {
        return complaints;
    }

    /** Every address that the page asked for so far. */
    List<String> requested() {
        return requested;
    }

    /** A screen of that size, in CSS pixels. */
    void screen(int width, int height, String scheme) {
        call("Emulation.setDeviceMetricsOverride", new JsonObject().put("width", width)
                .put("height", height)
                .put("deviceScaleFactor", 1)
                .put("mobile", width < 500));
        call("Emulation.setEmulatedMedia", new JsonObject().put("features",
                new JsonArray().add(new JsonObject().put("name", "prefers-color-scheme")
                        .put("value", scheme))));
    }

    void open(URI address) {
        call("Page.navigate", new JsonObject().put("url", address.toString()));
    }

    /** The value of an expression, as JSON has it. */
    @Nullable
    Object value(String expression) {
        JsonObject answer = call("Runtime.evaluate", new JsonObject().put("expression", expression)
                .put("returnByValue", true)
                .put("awaitPromise", true));
        if (answer.containsKey("exceptionDetails")) {
            throw new IllegalStateException(answer.encode());
        }
        return answer.getJsonObject("result").getValue("value");
    }

    /** What is to be read there; "null" where there is no such element. */
    String text(String selector) {
        return String.valueOf(value("document.querySelector('" + selector + "')?.innerText"));
    }

    boolean isTrue(String expression) {
        return Boolean.TRUE.equals(value(expression));
    }

    /** The page from its top, at most so many CSS pixels of it, as PNG. */
    byte[] screenshot(int atMostHeight) {
        JsonObject size = call("Page.getLayoutMetrics", new JsonObject())
                .getJsonObject("cssContentSize");
        JsonObject clip = new JsonObject().put("x", 0)
                .put("y", 0)
                .put("scale", 1)
                .put("width", size.getDouble("width"))
                .put("height", Math.min(atMostHeight, size.getDouble("height")));
        return Base64.getDecoder()
                .decode(call("Page.captureScreenshot", new JsonObject().put("format", "png")
                        .put("captureBeyondViewport", true)
                        .put("clip", clip)).getString("data"));
    }

    static void await(BooleanSupplier condition) {
        Instant deadline = Instant.now().plus(PATIENCE);
        while (!condition.getAsBoolean()) {
            if (Instant.now().isAfter(deadline)) {
                throw new IllegalStateException("not within " + PATIENCE);
            }
            pause();
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        page.abort();
        List<ProcessHandle> family = new ArrayList<>(process.descendants().toList());
        family.add(process.toHandle());
        family.forEach(ProcessHandle::destroyForcibly);
        family.forEach(each -> each.onExit().orTimeout(10, TimeUnit.SECONDS).join());
        http.close();
        delete(profile);
    }

    private static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
