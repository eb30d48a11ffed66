package io.railhead.gateway.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.railhead.gateway.frontdoor.PlainRequests;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The status page: a few files from the jar, and {@code /status.json}, which they draw. It is
 * read-only, and shows no object's key and no secret. Shown values may come from clients: the
 * script creates only text nodes from them, and the browser may run only that script.
 *
 * <p> The event loop only sends. A worker thread collects the values, at most once a second for all
 * viewers.
 */
public final class StatusPage {
    private static final Logger LOG = LoggerFactory.getLogger(StatusPage.class);

    private static final long INTERVAL_MILLIS = 2000;
    private static final int SAMPLES = 151;
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self';"
            + " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none';"
            + " frame-ancestors 'none'";
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();

    private final Vertx vertx;
    private final Sampler sampler;
    private final StatusReport report;
    private final PlainRequests requests;
    private final AtomicReference<Rendered> latest = new AtomicReference<>();

    /** The JSON that all requests within a second get. */
    private record Rendered(long atNanos, Future<@Nullable Buffer> json) {}

    /** Starts sampling, until {@code vertx} is closed. */
    public StatusPage(Vertx vertx, StatusSources sources) {
        this.vertx = vertx;
        this.requests = new PlainRequests("admin", sources.metrics());
        this.sampler = new Sampler(sources, SAMPLES);
        this.report = new StatusReport(sources, sampler, INTERVAL_MILLIS);
        sampler.sample();
        vertx.setPeriodic(INTERVAL_MILLIS, _ -> sample());
    }

    private void sample() {
        vertx.executeBlocking(() -> {
            sampler.sample();
            return true;
        }).onFailure(cause -> LOG.warn("status: no sample was taken", cause));
    }

    /** Returns the handlers by path, for the admin listener. */
    public Map<String, Handler<HttpServerRequest>> paths() {
        return Map.of("/", file("index.html", "text/html; charset=utf-8"),
                "/status.css", file("status.css", "text/css; charset=utf-8"),
                "/status.js", file("status.js", "text/javascript; charset=utf-8"),
                "/status.svg", file("status.svg", "image/svg+xml"),
                "/status.json", this::json);
    }

    private static Handler<HttpServerRequest> file(String name, String type) {
        Buffer content = read(name);
        return request -> answer(request, type, content);
    }

    private static Buffer read(String name) {
        try (InputStream in = Objects.requireNonNull(
                StatusPage.class.getResourceAsStream(name), name)) {
            return Buffer.buffer(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void json(HttpServerRequest request) {
        rendered().json()
                .onComplete(rendered -> requests.run(request, () -> {
                    if (rendered.succeeded()) {
                        answer(request, "application/json",
                                Objects.requireNonNull(rendered.result()));
                    } else {
                        LOG.warn("status: not collected", rendered.cause());
                        guarded(request.response()).setStatusCode(503)
                                .putHeader("content-type", "text/plain")
                                .end("the status could not be collected\n");
                    }
                }));
    }

    private Rendered rendered() {
        Rendered held = latest.get();
        long now = System.nanoTime();
        if (held != null && now - held.atNanos() < FRESH_NANOS) {
            return held;
        }
        Rendered anew = new Rendered(now, vertx.executeBlocking(this::render, false));
        latest.set(anew);
        return anew;
    }

    /** Returns the status as JSON, made anew. Blocks for a moment. */
    public String text() throws JsonProcessingException {
        return render().toString();
    }

    private Buffer render() throws JsonProcessingException {
        return Buffer.buffer(JSON.writeValueAsBytes(report.make()));
    }

    private static void answer(HttpServerRequest request, String type, Buffer content) {
        HttpServerResponse response = guarded(request.response());
        boolean isHead = request.method().equals(HttpMethod.HEAD);
        if (!isHead && !request.method().equals(HttpMethod.GET)) {
            response.setStatusCode(405).putHeader("allow", "GET, HEAD").end();
            return;
        }
        response.putHeader("content-type", type)
                .putHeader("content-length", Integer.toString(content.length()));
        if (isHead) {
            response.end();
        } else {
            response.end(content);
        }
    }

    private static HttpServerResponse guarded(HttpServerResponse response) {
        return response.putHeader("content-security-policy", POLICY)
                .putHeader("x-content-type-options", "nosniff")
                .putHeader("x-frame-options", "DENY")
                .putHeader("referrer-policy", "no-referrer")
                .putHeader("cross-origin-resource-policy", "same-origin")
                .putHeader("cross-origin-opener-policy", "same-origin")
                .putHeader("cache-control", "no-store");
    }
}
