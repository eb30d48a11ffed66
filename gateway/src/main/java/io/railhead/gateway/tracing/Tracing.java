package io.railhead.gateway.tracing;

import io.prometheus.client.Counter;
import io.railhead.gateway.config.GatewayConfig;
import io.vertx.core.Context;
import io.vertx.core.spi.VertxTracerFactory;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingPolicy;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sends a span for each sampled HTTP request to a collector, and to another one or to none once the
 * configuration says so. A request that says it is traced is sampled as it says. Native requests
 * have no spans. Any thread.
 */
public final class Tracing implements AutoCloseable {
    private final String instance;
    private final Counter spans;
    private volatile @Nullable Collector collector;

    /** A span, and the collector that hears of it when it ends. */
    private record Begun(Collector by, Object span) {}

    /**
     * Traces nothing yet.
     *
     * @param instance the gateway's name
     * @param spans by their outcomes: whether the collector took them
     */
    public Tracing(String instance, Counter spans) {
        this.instance = instance;
        this.spans = spans;
    }

    /** Requests that come from now on are traced so; null: none is. */
    public synchronized void use(GatewayConfig.@Nullable Tracing settings) {
        Collector earlier = collector;
        if (Objects.equals(settings, earlier == null ? null : earlier.settings())) {
            return;
        }
        collector = settings == null ? null : Collector.open(settings, instance, spans);
        if (earlier != null) {
            earlier.retire();
        }
    }

    public boolean isOn() {
        return collector != null;
    }

    /** For Vert.x, which keeps one for as long as it runs. */
    public VertxTracerFactory factory() {
        return _ -> new Switched();
    }

    /** Sends what is still to be sent, for some seconds. */
    @Override
    public void close() {
        Collector last = collector;
        if (last != null) {
            last.close();
        }
    }

    /** Asks whichever collector there is; what one began it ends. */
    private final class Switched implements VertxTracer<@Nullable Begun, Object> {

        @Override
        public <R> @Nullable Begun receiveRequest(Context context, SpanKind kind,
                TracingPolicy policy, R request, String operation,
                Iterable<Map.Entry<String, String>> headers, TagExtractor<R> tags) {
            Collector by = collector;
            Object span = by == null
                    ? null
                    : by.begin(tracer -> tracer.receiveRequest(context, kind, policy, request,
                            operation, headers, tags));
            return by == null || span == null ? null : new Begun(by, span);
        }

        @Override
        public <R> void sendResponse(Context context, R response, @Nullable Begun begun,
                Throwable failure, TagExtractor<R> tags) {
            if (begun != null) {
                begun.by.end(tracer -> tracer.sendResponse(context, response, begun.span, failure,
                        tags));
            }
        }
    }
}
