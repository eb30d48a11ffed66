package io.railhead.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/** Asks a store about an object without reading it. */
final class ObjectHeads {
    private final S3Http http;

    ObjectHeads(S3Http http) {
        this.http = http;
    }

    /** @param checksum of the whole object, if the store sent one that this client can compute */
    record Head(ObjectInfo info, @Nullable Checksum checksum) {}

    Head head(ObjectName name) throws IOException {
        Call call = Call.to(SdkHttpMethod.HEAD, name).header("x-amz-checksum-mode", "ENABLED");
        return Attempts.idempotent(() -> {
            try (HttpAnswer answer = http.require(call)) {
                ObjectInfo info = new ObjectInfo(name, Part.contentLength(answer),
                        answer.requireHeader("ETag"));
                return new Head(info, Checksum.find(info.etag(), answer::findHeader).orElse(null));
            }
        });
    }
}
