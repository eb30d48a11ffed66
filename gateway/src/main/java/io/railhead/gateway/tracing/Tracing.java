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
 * Sends a span for each sampled HTTP request to the configured collector, which a reload may change
 * or remove. A request that carries a trace decision follows it. Native requests have no spans. Any
 * thread.
 */
public final class Tracing implements AutoCloseable {
    private final String instance;
    private final Counter spans;
    private volatile @Nullable Collector collector;

    /** A span, and the collector that gets it at its end. */
    private record Begun(Collector by, Object span) {}

    /**
     * Creates a tracing that is off.
     *
     * @param instance the gateway's name
     * @param spans counts spans by whether the collector accepted them
     */
    public Tracing(String instance, Counter spans) {
        this.instance = instance;
        this.spans = spans;
    }

    /** Sets the tracing of later requests; null for none. */
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

    /** Records a native request, if tracing is on and the request is among the sampled ones. */
    public void ended(NativeSpan span) {
        Collector by = collector;
        if (by != null) {
            by.record(span);
        }
    }

    /** Returns the factory for Vert.x, which keeps one tracer for its lifetime. */
    public VertxTracerFactory factory() {
        return _ -> new Switched();
    }

    /** Sends the remaining spans, for a few seconds. */
    @Override
    public void close() {
        Collector last = collector;
        if (last != null) {
            last.close();
        }
    }

    /** Uses the current collector; each span ends at the collector that began it. */
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
