package io.railhead.client;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * A region of a file on its way to a store.
 *
 * @param upload which part of which upload it is; null for an object of its own
 */
record StoreRequest(ObjectName name, @Nullable Upload upload, FileChannel file, long offset,
        long bytes) {

    /** A multipart upload's part. */
    record Upload(String id, int partNumber) {}

    Call call() {
        Call call = Call.to(SdkHttpMethod.PUT, name);
        return upload == null
                ? call
                : call.query("partNumber", Integer.toString(upload.partNumber()))
                        .query("uploadId", upload.id());
    }

    /** What it fails with where the store refused; a part may be sent again. */
    IOException refused(S3Exception refusal) {
        return upload == null ? refusal.asOutcome(name) : refusal;
    }

    /** Fills the buffer from the region's start. */
    void readInto(ByteBuffer into) throws IOException {
        long position = offset;
        while (into.hasRemaining()) {
            int n = file.read(into, position);
            if (n < 0) {
                throw new EOFException("the file became shorter while it was sent");
            }
            position += n;
        }
    }
}
