package io.railhead.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.http.SdkHttpMethod;

/** Asks a gateway to prefetch objects. */
final class Prefetching {
    /** Room for one line every five seconds, for as long as an object takes. */
    private static final int ANSWER_LIMIT = 1 << 20;

    private final S3Http http;

    Prefetching(S3Http http) {
        this.http = http;
    }

    Prefetched prefetch(ObjectName name) throws IOException {
        Call call = new Call(SdkHttpMethod.POST, "/.railhead/warm",
                Map.of("bucket", name.bucket(), "key", name.key()), Map.of(), Call.Body.EMPTY);
        String last = new String(answer(call), StandardCharsets.UTF_8).lines()
                .reduce("", (_, line) -> line);
        Map<String, List<String>> fields = FlatJson.parse(last);
        return new Prefetched(name, field(fields, "state"), Long.parseLong(field(fields, "bytes")),
                field(fields, "reason"));
    }

    private byte[] answer(Call call) throws IOException {
        try {
            return http.document(call, ANSWER_LIMIT);
        } catch (S3Exception e) {
            throw e.status() == 403 || e.status() >= 500 ? e : notServed(e);
        }
    }

    private static IOException notServed(S3Exception refusal) {
        IOException notServed = new PermanentException(
                "the endpoint prefetches nothing: " + refusal.getMessage());
        notServed.initCause(refusal);
        return notServed;
    }

    private static String field(Map<String, List<String>> fields, String name)
            throws IOException {
        List<String> values = fields.getOrDefault(name, List.of());
        if (values.size() != 1) {
            throw new PermanentException("the gateway's answer to a prefetch has no " + name);
        }
        return values.getFirst();
    }
}
