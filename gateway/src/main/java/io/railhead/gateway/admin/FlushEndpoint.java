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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
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
    private static final Pattern THROUGH_TEXT = Pattern.compile("[0-9a-f]{1,16}-[0-9]{1,18}");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
    /** More than any configured wait that is of use. */
    private static final long LONGEST_SECONDS = 86_400;

    private static final int MOST_WAITING = 100;

    private final @Nullable WriteBack writeBack;
    private final ConcurrentMap<String, Integer> waiting = new ConcurrentHashMap<>();

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
        String through = query.get("through");
        if (through != null && !THROUGH_TEXT.matcher(through).matches()) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    "through is what an earlier answer had in " + THROUGH + ".");
        }
        WriteBack known = writeBack;
        if (known == null && through == null) {
            InternalEndpoint.answer(httpExchange, new JsonObject());
            return;
        }
        Flush flush = known == null ? null : flush(known, scope, most, through);
        if (flush == null) {
            throw new S3Refusal(S3Error.INVALID_REQUEST, "The log of writes over which this wait"
                    + " began is not here, so nobody knows what the store has of it.")
                    .withStatus(409);
        }
        wait(httpExchange, scope.principal(), flush);
    }

    private static @Nullable Flush flush(WriteBack known, Flush.Scope scope, Duration most,
            @Nullable String through) {
        return through == null
                ? Flush.ofAll(known, scope, most)
                : Flush.tryThrough(known, scope, most, through);
    }

    private void wait(HttpExchange httpExchange, String principal, Flush flush) {
        if (waiting.merge(principal, 1, Integer::sum) > MOST_WAITING) {
            ended(principal);
            throw new S3Refusal(S3Error.SLOW_DOWN,
                    MOST_WAITING + " flushes of this principal wait already.");
        }
        httpExchange.onClosed(flush::leave);
        flush.left()
                .whenComplete((_, _) -> ended(principal))
                .thenAccept(left -> httpExchange.executor()
                        .execute(() -> httpExchange.goOn(() -> end(httpExchange, left))));
    }

    private void ended(String principal) {
        waiting.computeIfPresent(principal, (_, count) -> count == 1 ? null : count - 1);
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
                    .withHeader(THROUGH, left.through());
        }
        InternalEndpoint.answer(httpExchange, new JsonObject());
    }
}
