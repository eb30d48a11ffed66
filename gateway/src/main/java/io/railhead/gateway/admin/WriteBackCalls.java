package io.railhead.gateway.admin;

import io.railhead.gateway.object.writeback.Export;
import io.railhead.gateway.object.writeback.NamedWrites;
import io.railhead.gateway.object.writeback.WriteBack;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Shows writes that the store does not have yet, waits for them, has them tried again, and hands
 * out or discards one of them.
 */
public final class WriteBackCalls {
    private static final int MOST_SHOWN = 1000;
    private static final String DISCARDED = "An administrator has discarded a write that was"
            + " waited for: its store does not have it.";

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
        all.named()
                .list(MOST_SHOWN)
                .forEach(write -> shown.add(JsonObject.of("id", write.id(), "backend",
                        write.backend(), "bucket", write.bucket(), "key", write.key(),
                        "principal", write.principal(), "etag", write.etag(), "bytes",
                        write.bytes(), "since", write.since().toString(), "problem",
                        write.problem())));
        JsonArray uploads = new JsonArray();
        all.uploads()
                .list(MOST_SHOWN)
                .forEach(upload -> uploads.add(JsonObject.of("id", upload.id(), "backend",
                        upload.backend(), "bucket", upload.bucket(), "key", upload.key(),
                        "principal", upload.principal(), "parts", upload.parts(), "bytes",
                        upload.bytes(), "since", upload.since().toString())));
        WriteBack.Stats now = all.stats();
        return JsonObject.of("pending", shown, "objects", now.pending(), "bytes",
                now.pendingBytes(), "stuck", now.stuck(), "uploads", uploads, "open_uploads",
                now.uploads().open());
    }

    /**
     * Waits until the stores have everything that was acknowledged before the call. With
     * {@code progress} there is a line each second, and a discarded write is the last one's state.
     */
    JsonObject flush(AdminCall.Asked asked) throws InterruptedException {
        boolean tells = asked.body().flag("progress");
        asked.body().close();
        WriteBack all = require();
        CompletableFuture<?> flushed = all.flush().toCompletableFuture();
        try {
            while (tells && !flushed.isDone()) {
                asked.reply().line(left(all).put("state", "running"));
                waitASecond(flushed);
            }
            flushed.get();
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof S3Refusal)) {
                throw new CompletionException(e.getCause());
            }
            if (!tells) {
                throw new S3Refusal(S3Error.INVALID_REQUEST, DISCARDED).withStatus(409);
            }
            return left(all).put("state", "discarded").put("reason", DISCARDED);
        }
        return tells ? left(all).put("state", "done") : new JsonObject();
    }

    private static void waitASecond(CompletableFuture<?> flushed)
            throws InterruptedException, ExecutionException {
        try {
            flushed.get(1, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            // Told by the next line.
            return;
        }
    }

    private static JsonObject left(WriteBack all) {
        WriteBack.Stats now = all.stats();
        return JsonObject.of("objects", now.pending(), "bytes", now.pendingBytes(), "stuck",
                now.stuck());
    }

    /**
     * Hands out one pending object, or an open upload's parts: a line of JSON that describes it,
     * then its bytes. An answer that is cut lacks bytes, so its length shows that.
     */
    JsonObject export(AdminCall.Asked asked) throws InterruptedException {
        try (Export export = require().named().export(name(asked))) {
            long length = export.lengthBytes();
            // Before the answer begins, so that damage is an error and no cut.
            ByteBuffer next = length == 0 ? ByteBuffer.allocate(0) : export.read(0);
            byte[] line = (described(export).encode() + "\n").getBytes(StandardCharsets.UTF_8);
            asked.reply().beginBytes(line.length + length);
            asked.reply().bytes(ByteBuffer.wrap(line));
            for (long at = next.remaining(); next.hasRemaining(); at += next.remaining()) {
                asked.reply().bytes(next.duplicate());
                next = at < length ? export.read(at) : ByteBuffer.allocate(0);
            }
            asked.reply().endBytes();
        }
        return new JsonObject();
    }

    private static JsonObject described(Export export) {
        JsonArray parts = new JsonArray();
        export.parts()
                .forEach(part -> parts.add(JsonObject.of("number", part.number(), "bytes",
                        part.bytes(), "etag", part.etag())));
        JsonObject headers = new JsonObject();
        export.headers().forEach(headers::put);
        return JsonObject.of("backend", export.backend(), "bucket", export.bucket(), "key",
                export.key(), "principal", export.principal(), "etag", export.etag(), "since",
                export.since().toString(), "bytes", export.lengthBytes())
                .put("headers", headers)
                .put("parts", parts);
    }

    /** Discards one pending object or open upload for good, and says what is lost. */
    JsonObject discard(AdminCall.Asked asked) throws InterruptedException {
        NamedWrites.Name name = name(asked);
        NamedWrites.Lost lost;
        try {
            lost = require().named().discard(name).toCompletableFuture().get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof S3Refusal refused
                    ? refused
                    : new CompletionException(e.getCause());
        }
        return JsonObject.of("backend", lost.backend(), "bucket", name.bucket(), "key",
                name.key(), "principal", lost.principal(), "etag", lost.etag(), "bytes",
                lost.bytes(), "since", lost.since().toString(), "store_upload",
                lost.storeUpload());
    }

    private static NamedWrites.Name name(AdminCall.Asked asked) {
        String bucket = asked.body().bucket();
        String key = asked.body().text("key");
        String id = asked.body().text("id");
        asked.body().close();
        if (key == null || key.isEmpty() || id == null || id.isEmpty()) {
            throw CallBody.refusal("key and id must name one write, as pending lists it.");
        }
        return new NamedWrites.Name(bucket, key, id);
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
