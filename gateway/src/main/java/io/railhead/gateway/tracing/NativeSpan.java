package io.railhead.gateway.tracing;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import java.time.Instant;

/**
 * A native request that has ended, as a span. It has no parent: the channel's messages carry no
 * trace context.
 *
 * @param operation such as {@code GET}
 * @param status 0 if the request was declined
 * @param code the error's code or the decline's reason; "" for neither
 */
public record NativeSpan(String operation, String bucket, String key, String fabric,
        String requestId, int status, String code, long nanos) {
    private static final int SERVER_ERROR = 500;

    void record(Tracer tracer) {
        Instant end = Instant.now();
        SpanBuilder builder = tracer.spanBuilder("NATIVE." + operation)
                .setNoParent()
                .setSpanKind(SpanKind.SERVER)
                .setStartTimestamp(end.minusNanos(nanos))
                .setAttribute("aws.s3.bucket", bucket)
                .setAttribute("aws.s3.key", key)
                .setAttribute("railhead.fabric", fabric)
                .setAttribute("railhead.request_id", requestId)
                .setAttribute("railhead.status", status);
        if (!code.isEmpty()) {
            builder.setAttribute(status == 0 ? "railhead.declined" : "error.type", code);
        }
        Span span = builder.startSpan();
        if (status >= SERVER_ERROR) {
            span.setStatus(StatusCode.ERROR);
        }
        span.end(end);
    }
}
