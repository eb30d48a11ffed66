package io.railhead.gateway.tracing;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.export.ProxyOptions;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.prometheus.client.Counter;
import io.railhead.gateway.config.GatewayConfig;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingOptions;
import io.vertx.tracing.opentelemetry.OpenTelemetryTracingFactory;
import java.net.ProxySelector;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connection to one trace collector, which gets spans by OTLP over HTTP, in batches and from a
 * thread of its own. After its retirement it is closed with its last span. Any thread.
 */
final class Collector implements AutoCloseable {
    private final GatewayConfig.Tracing settings;
    private final OpenTelemetrySdk sdk;
    private final VertxTracer<Object, Object> tracer;
    /** The number of open spans, plus 1 until it is retired. */
    private final AtomicInteger open = new AtomicInteger(1);
    private final AtomicBoolean closed = new AtomicBoolean();

    @SuppressWarnings("unchecked")
    private Collector(GatewayConfig.Tracing settings, OpenTelemetrySdk sdk) {
        this.settings = settings;
        this.sdk = sdk;
        // Vert.x returns a span as it got it, so its type does not matter.
        this.tracer = (VertxTracer<Object, Object>) new OpenTelemetryTracingFactory(sdk)
                .tracer(new TracingOptions());
    }

    static Collector open(GatewayConfig.Tracing settings, String instance, Counter spans) {
        OtlpHttpSpanExporter exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint(settings.endpoint() + "/v1/traces")
                .setProxy(ProxyOptions.create(ProxySelector.of(null)))
                .build();
        SdkTracerProvider provider = SdkTracerProvider.builder()
                .setResource(Resource.create(
                        Attributes.of(AttributeKey.stringKey("service.name"), "railhead",
                                AttributeKey.stringKey("service.instance.id"), instance)))
                .setSampler(Sampler.parentBased(
                        Sampler.traceIdRatioBased(settings.sample().value() / 100.0)))
                .addSpanProcessor(BatchSpanProcessor.builder(new RedactedSpans(exporter, spans))
                        .build())
                .build();
        return new Collector(settings, OpenTelemetrySdk.builder()
                .setTracerProvider(provider)
                .setPropagators(
                        ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build());
    }

    GatewayConfig.Tracing settings() {
        return settings;
    }

    /** Begins a span; null if there is none, or this was retired meanwhile. */
    @Nullable
    Object begin(Function<VertxTracer<Object, Object>, @Nullable Object> span) {
        if (open.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            return null;
        }
        Object begun = span.apply(tracer);
        if (begun == null) {
            release();
        }
        return begun;
    }

    /** Records a span that has ended already; left out if this was retired meanwhile. */
    void record(NativeSpan span) {
        if (open.getAndUpdate(count -> count == 0 ? 0 : count + 1) != 0) {
            try {
                span.record(sdk.getTracer("io.railhead.native"));
            } finally {
                release();
            }
        }
    }

    void end(Consumer<VertxTracer<Object, Object>> span) {
        span.accept(tracer);
        release();
    }

    /** Retires the collector: it begins no more spans, and is closed with its last one. */
    void retire() {
        release();
    }

    private void release() {
        if (open.decrementAndGet() == 0) {
            // The close waits for the collector, which would block an event loop.
            Thread.ofVirtual().name("tracing-end").start(this::close);
        }
    }

    /** Sends the remaining spans, for a few seconds. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            sdk.close();
        }
    }
}
