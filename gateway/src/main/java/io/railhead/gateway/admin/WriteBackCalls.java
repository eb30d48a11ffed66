package io.railhead.gateway.admin;

import io.railhead.gateway.object.writeback.WriteBack;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Shows writes that the store does not have yet, waits for them, and has them tried again. */
public final class WriteBackCalls {
    private static final int MOST_SHOWN = 1000;

    private final @Nullable WriteBack writeBack;

    /** @param writeBack null for a gateway that acknowledges no write before its store */
    public WriteBackCalls(@Nullable WriteBack writeBack) {
        this.writeBack = writeBack;
    }

    /** Shows pending writes and open multipart uploads, the oldest first. */
    JsonObject pending(AdminCall.Asked asked) {
        asked.body().close();
        WriteBack all = require();
        JsonArray shown = new JsonArray();
        all.list(MOST_SHOWN)
                .forEach(write -> shown.add(JsonObject.of("backend", write.backend(), "bucket",
                        write.bucket(), "key", write.key(), "principal", write.principal(),
                        "bytes", write.bytes(), "since", write.since().toString(), "problem",
                        write.problem())));
        JsonArray uploads = new JsonArray();
        all.uploads()
                .list(MOST_SHOWN)
                .forEach(upload -> uploads.add(JsonObject.of("backend", upload.backend(), "bucket",
                        upload.bucket(), "key", upload.key(), "principal", upload.principal(),
                        "parts", upload.parts(), "bytes", upload.bytes(), "since",
                        upload.since().toString())));
        WriteBack.Stats now = all.stats();
        return JsonObject.of("pending", shown, "objects", now.pending(), "bytes",
                now.pendingBytes(), "stuck", now.stuck(), "uploads", uploads, "open_uploads",
                now.uploads().open());
    }

    /** Waits until the stores have everything that was acknowledged before the call. */
    JsonObject flush(AdminCall.Asked asked) throws InterruptedException {
        asked.body().close();
        try {
            require().flush().toCompletableFuture().get();
        } catch (ExecutionException e) {
            throw new CompletionException(e.getCause());
        }
        return new JsonObject();
    }

    /** Tries each bucket's oldest write now. */
    JsonObject retry(AdminCall.Asked asked) {
        asked.body().close();
        require().retry();
        return new JsonObject();
    }

    private WriteBack require() {
        WriteBack known = writeBack;
        if (known == null) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "This gateway has no log of writes (write_back in its configuration).")
                    .withStatus(409);
        }
        return known;
    }
}
