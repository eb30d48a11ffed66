package io.railhead.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * A request to store an object or a part of an upload.
 *
 * @param upload the upload and the part's number; null for a whole object
 */
record StoreRequest(ObjectName name, @Nullable Upload upload, Content content) {

    /** A multipart upload's part. */
    record Upload(String id, int partNumber) {}

    Call call() {
        Call call = Call.to(SdkHttpMethod.PUT, name);
        return upload == null
                ? call
                : call.query("partNumber", Integer.toString(upload.partNumber()))
                        .query("uploadId", upload.id());
    }

    /** Returns the failure of a refused request; a part may be sent again. */
    IOException refused(S3Exception refusal) {
        return upload == null ? refusal.asOutcome(name) : refusal;
    }

    long bytes() {
        return content.bytes();
    }

    /** Fills the buffer from the content's start. */
    void readInto(ByteBuffer into) throws IOException {
        content.readInto(into);
    }
}
