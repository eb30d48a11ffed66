package io.railhead.gateway.tracing;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.DelegatingSpanData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.prometheus.client.Counter;
import io.railhead.backend.RedactedQuery;
import java.util.Collection;
import java.util.List;

/**
 * Removes signatures of presigned addresses from spans, since a reader of traces could use them.
 * Counts the spans that the collector accepted and those it did not, which the exporter only logs.
 */
final class RedactedSpans implements SpanExporter {
    private static final List<AttributeKey<String>> ADDRESSES = List.of(
            AttributeKey.stringKey("url.full"), AttributeKey.stringKey("url.query"),
            AttributeKey.stringKey("http.url"), AttributeKey.stringKey("http.target"));

    private final SpanExporter collector;
    private final Counter.Child sent;
    private final Counter.Child lost;

    RedactedSpans(SpanExporter collector, Counter spans) {
        this.collector = collector;
        this.sent = spans.labels("sent");
        this.lost = spans.labels("lost");
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
        CompletableResultCode exported = collector.export(spans.stream()
                .<SpanData>map(Redacted::new)
                .toList());
        return exported
                .whenComplete(() -> (exported.isSuccess() ? sent : lost).inc(spans.size()));
    }

    @Override
    public CompletableResultCode flush() {
        return collector.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
        return collector.shutdown();
    }

    private static final class Redacted extends DelegatingSpanData {

        Redacted(SpanData span) {
            super(span);
        }

        @Override
        public Attributes getAttributes() {
            AttributesBuilder shown = super.getAttributes().toBuilder();
            for (AttributeKey<String> key : ADDRESSES) {
                String address = super.getAttributes().get(key);
                if (address != null) {
                    shown.put(key, redacted(address));
                }
            }
            return shown.build();
        }

        private static String redacted(String address) {
            int query = address.indexOf('?') + 1;
            return address.substring(0, query) + RedactedQuery.of(address.substring(query));
        }
    }
}
