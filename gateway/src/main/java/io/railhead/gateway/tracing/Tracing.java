package io.railhead.gateway.tracing;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.prometheus.client.Counter;
import io.railhead.gateway.config.GatewayConfig;
import io.vertx.core.spi.VertxTracerFactory;
import io.vertx.tracing.opentelemetry.OpenTelemetryTracingFactory;

/**
 * Sends a span for each sampled HTTP request to a collector, by OTLP over HTTP, in batches and from
 * a thread of its own. A request that says it is traced is sampled as it says. Native requests have
 * no spans.
 */
public final class Tracing implements AutoCloseable {
    private final OpenTelemetrySdk sdk;

    private Tracing(OpenTelemetrySdk sdk) {
        this.sdk = sdk;
    }

    /**
     * @param instance the gateway's name
     * @param spans by their outcomes: whether the collector took them
     */
    public static Tracing open(GatewayConfig.Tracing settings, String instance, Counter spans) {
        OtlpHttpSpanExporter exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint(settings.endpoint() + "/v1/traces")
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
        return new Tracing(OpenTelemetrySdk.builder()
                .setTracerProvider(provider)
                .setPropagators(
                        ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build());
    }

    public VertxTracerFactory factory() {
        return new OpenTelemetryTracingFactory(sdk);
    }

    /** Sends what is still to be sent, for some seconds. */
    @Override
    public void close() {
        sdk.close();
    }
}
