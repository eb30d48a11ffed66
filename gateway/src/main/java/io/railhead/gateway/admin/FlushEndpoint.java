package io.railhead.gateway.admin;

import io.railhead.gateway.frontdoor.InternalEndpoint;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.object.writeback.Flush;
import io.railhead.gateway.object.writeback.WriteBack;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /.railhead/flush?bucket=B&prefix=P}: answers once the store has the caller's own
 * objects that were acknowledged at the disk before. Otherwise it answers 503 after a time, and
 * names in a header the write through which the next call waits. It answers 409 while one of them
 * is discarded. Any thread.
 */
public final class FlushEndpoint implements InternalEndpoint {
    private static final String THROUGH = "x-railhead-flush-through";
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
    /** More than any configured wait that is of use. */
    private static final long LONGEST_SECONDS = 86_400;

    private final @Nullable WriteBack writeBack;

    /** @param writeBack null for a gateway whose writes are all acknowledged by their store */
    public FlushEndpoint(@Nullable WriteBack writeBack) {
        this.writeBack = writeBack;
    }

    @Override
    public void handle(HttpExchange httpExchange, Authentication.Signed caller, Query query) {
        if (!httpExchange.request().method().name().equals("POST") || caller.presigned()) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED,
                    "Writes are flushed by a POST with a signed header.");
        }
        Flush.Scope scope = scope(caller, query);
        Duration most = Duration.ofSeconds(
                Math.min(number(query, "wait", LONGEST_SECONDS), LONGEST_SECONDS));
        long through = number(query, "through", -1);
        WriteBack known = writeBack;
        if (known == null) {
            InternalEndpoint.answer(httpExchange, new JsonObject());
            return;
        }
        CompletionStage<Flush.Left> waiting = through < 0
                ? Flush.ofAll(known, scope, most)
                : Flush.through(known, scope, most, through);
        waiting.thenAccept(left -> httpExchange.executor()
                .execute(() -> httpExchange.goOn(() -> end(httpExchange, left))));
    }

    private static Flush.Scope scope(Authentication.Signed caller, Query query) {
        String bucket = query.get("bucket");
        if (bucket == null || bucket.isEmpty() || !Address.isBucketName(bucket)) {
            throw new S3Refusal(S3Error.INVALID_BUCKET_NAME);
        }
        String prefix = query.get("prefix");
        return new Flush.Scope(caller.principalName(), bucket, prefix == null ? "" : prefix);
    }

    private static long number(Query query, String name, long otherwise) {
        String text = query.get(name);
        if (text == null) {
            return otherwise;
        }
        if (!NUMBER.matcher(text).matches()) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    name + " must be a number of at most 18 digits.");
        }
        return Long.parseLong(text);
    }

    private static void end(HttpExchange httpExchange, Flush.Left left) {
        if (!left.discarded().isEmpty()) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "An administrator has discarded " + left.discarded()
                            + ", so the store does not have it: write it anew.")
                    .withStatus(409);
        }
        if (left.objects() > 0) {
            throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                    "Pending objects of this principal: " + left.objects() + ", with "
                            + left.bytes() + " bytes."
                            + (left.problem().isEmpty()
                                    ? ""
                                    : " One is refused: " + left.problem() + "."))
                    .withHeader(THROUGH, Long.toString(left.through()));
        }
        InternalEndpoint.answer(httpExchange, new JsonObject());
    }
}
