package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.PercentCodec;
import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.LogReader;
import io.railhead.cache.writeback.WriteLog;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One try to write a multipart object to the store: the upload is begun unless an earlier try has,
 * the parts that are missing are sent side by side, and the upload is completed. Nothing before the
 * completion changes the object. Any thread; nothing blocks.
 */
final class MultipartWriter {
    private static final Logger LOG = LoggerFactory.getLogger(MultipartWriter.class);
    private static final int PARTS_AT_ONCE = 4;
    /** A try of thousands of parts must not end by one that the store refuses for the moment. */
    private static final int TRIES_OF_A_PART = 4;
    private static final long PART_PAUSE_MILLIS = 250;
    private static final int MOST_ANSWER_BYTES = 64 << 10;
    /** A store may put the parts together before it answers. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final WriteLog log;
    private final Backend store;
    private final Caller caller;
    private final WriteThrottle throttle;
    private final PendingWrite pending;
    private final StoreUpload upload;
    private final Queue<LogPart> left = new ArrayDeque<>(); // guarded by this

    /** The end of a step that did not succeed. */
    private static final class FailedStep extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient StoreWriter.Outcome.Failed outcome;

        FailedStep(StoreWriter.Outcome.Failed outcome) {
            super(outcome.problem(), null, false, false);
            this.outcome = outcome;
        }
    }

    private record Answer(BackendResponse response, String document) {

        int status() {
            return response.status();
        }

        /** Some stores report a failed completion behind the status of a success. */
        boolean isSuccess() {
            return response.isSuccess() && code().isEmpty();
        }

        /** The code of an error, which may stand behind blanks that kept the connection alive. */
        String code() {
            return element("Code");
        }

        /** Another document is a proxy's, or was cut: it completes nothing. */
        boolean isCompletion() {
            return isSuccess() && (document.contains("CompleteMultipartUploadResult")
                    || !element("ETag").isEmpty());
        }

        String element(String name) {
            int from = document.indexOf("<" + name + ">") + name.length() + 2;
            int to = document.indexOf("</" + name + ">");
            return to < from ? "" : document.substring(from, to).strip();
        }
    }

    MultipartWriter(WriteLog log, Backend store, Caller caller, WriteThrottle throttle,
            PendingWrite pending) {
        this.throttle = throttle;
        this.log = log;
        this.store = store;
        this.caller = caller;
        this.pending = pending;
        this.upload = pending.storeUpload();
    }

    /** Writes the object; the stage never fails. */
    CompletionStage<StoreWriter.Outcome> write() {
        return begun().thenCompose(this::sendParts)
                .thenCompose(this::complete)
                .exceptionally(failure -> Turn.causeOf(failure) instanceof FailedStep step
                        ? step.outcome
                        : StoreWriter.failed(failure, null));
    }

    private CompletionStage<String> begun() {
        String known = upload.id();
        if (known != null) {
            return CompletableFuture.completedStage(known);
        }
        Headers.Builder headers = Headers.builder();
        pending.write().head().headers().forEach((name, value) -> {
            if (!PutHeaders.isSum(name)) {
                headers.add(name, value);
            }
        });
        return ask("POST", "uploads", headers.build(), new Payload.Empty(), null)
                .thenCompose(answer -> {
                    String id = answer.element("UploadId");
                    if (!answer.isSuccess() || id.isEmpty()) {
                        throw new FailedStep(refused(answer, false));
                    }
                    return recorded(unescaped(id));
                });
    }

    /** Has a restart know the upload before it has a part. */
    private CompletionStage<String> recorded(String id) {
        LogRecord.StoreUpload record = new LogRecord.StoreUpload(pending.write().upload(), id);
        // Owned by nobody, since a bucket has one at a time.
        return log.commit(List.of(new WriteLog.Draft("", null, record.encoded())),
                upload.entries())
                .handle((added, failure) -> {
                    LogEntry entry = added == null ? null : added.getFirst();
                    if (entry == null) {
                        LOG.warn("the upload {} of {}/{} at {} stays there if this gateway ends"
                                + " before it is complete: {}", id, pending.name().bucket(),
                                pending.name().key(), pending.name().backend(),
                                String.valueOf(failure));
                    }
                    if (entry == null) {
                        // A former entry stays in the log, to be removed with the object's.
                        upload.begun(id);
                    } else {
                        upload.begun(id, entry);
                    }
                    return id;
                });
    }

    private static String unescaped(String xml) {
        return xml.replace("&quot;", "\"")
                .replace("&#34;", "\"")
                .replace("&#x22;", "\"")
                .replace("&apos;", "'")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&");
    }

    private CompletionStage<String> sendParts(String id) {
        synchronized (this) {
            pending.parts().stream().filter(part -> !upload.has(part.number())).forEach(left::add);
        }
        CompletableFuture<?>[] lanes = new CompletableFuture<?>[PARTS_AT_ONCE];
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = new CompletableFuture<>();
            sendNext(id, lanes[i]);
        }
        // All lanes end before the try does: no part of it is sent beside the next one's.
        return CompletableFuture.allOf(lanes).thenApply(_ -> id);
    }

    private synchronized @Nullable LogPart next() {
        return left.poll();
    }

    private synchronized void sendNoMore() {
        left.clear();
    }

    private void sendNext(String id, CompletableFuture<?> lane) {
        LogPart part = next();
        if (part == null) {
            lane.complete(null);
            return;
        }
        sendAgain(id, part, TRIES_OF_A_PART).whenComplete((answer, failure) -> {
            if (failure == null) {
                String etag = answer.response.headers().get("etag");
                upload.add(part.number(), etag == null ? part.etag() : etag);
                sendNext(id, lane);
            } else {
                sendNoMore();
                lane.completeExceptionally(failure);
            }
        });
    }

    private CompletionStage<Answer> sendAgain(String id, LogPart part, int tries) {
        return throttle.admit(part.sizeBytes())
                .thenCompose(_ -> send(id, part))
                .exceptionallyCompose(failure -> tries > 1 && isPassing(failure)
                        ? CompletableFuture.runAsync(() -> {}, CompletableFuture.delayedExecutor(
                                PART_PAUSE_MILLIS, TimeUnit.MILLISECONDS))
                                .thenCompose(_ -> sendAgain(id, part, tries - 1))
                        : CompletableFuture.failedStage(failure));
    }

    /** Returns whether the same part may be taken soon, by the same upload. */
    private boolean isPassing(Throwable failure) {
        return upload.id() != null && Turn.causeOf(failure) instanceof FailedStep step
                && step.outcome.problem().isEmpty();
    }

    private CompletionStage<Answer> send(String id, LogPart part) {
        LogReader reader = log.tryRead(List.of(part.entry()));
        if (reader == null) {
            throttle.giveBack(part.sizeBytes());
            return CompletableFuture
                    .failedStage(new FailedStep(new StoreWriter.Outcome.Failed("", false)));
        }
        AtomicReference<@Nullable Throwable> unreadable = new AtomicReference<>();
        LogBody body = new LogBody(reader, 0, part.sizeBytes(), unreadable::set);
        Headers.Builder headers = Headers.builder()
                .add("Content-MD5", Base64.getEncoder()
                        .encodeToString(HexFormat.of().parseHex(Completion.bare(part.etag()))));
        String sumHeader = sumHeader();
        if (sumHeader != null) {
            headers.add(sumHeader, part.sum());
        }
        String query = "partNumber=" + part.number() + "&uploadId=" + PercentCodec.encode(id);
        return ask("PUT", query, headers.build(),
                new Payload.Stream(body, part.sizeBytes(), "UNSIGNED-PAYLOAD", Map.of()), null)
                .whenComplete((_, _) -> {
                    body.closeUnused();
                    throttle.giveBack(part.sizeBytes() - body.emittedBytes());
                })
                .handle((answer, failure) -> {
                    if (answer == null) {
                        // A part that arrives late changes no object, and has the same bytes.
                        StoreWriter.Outcome.Failed outcome = StoreWriter.failed(failure,
                                unreadable.get());
                        throw new FailedStep(
                                new StoreWriter.Outcome.Failed(outcome.problem(), false));
                    }
                    if (!answer.isSuccess()) {
                        throw new FailedStep(refused(answer, false));
                    }
                    return answer;
                });
    }

    private @Nullable String sumHeader() {
        return PutHeaders.sumHeader(pending.write().head().headers());
    }

    private CompletionStage<StoreWriter.Outcome> complete(String id) {
        byte[] list = UploadXml.completion(pending.parts(), upload.etags(), sumHeader());
        Headers headers = Headers.builder().add("content-type", "application/xml").build();
        return ask("POST", "uploadId=" + PercentCodec.encode(id), headers,
                new Payload.Bytes(ByteBuffer.wrap(list)), PATIENCE).thenApply(answer -> {
                    if (answer.isCompletion()) {
                        return StoreWriter.written(pending,
                                unescaped(answer.element("ETag")));
                    }
                    if (answer.code().equals("InvalidPart")) {
                        upload.tryRestart();
                    }
                    return refused(answer, true);
                });
    }

    /** @param completes whether the request may have changed the object */
    private StoreWriter.Outcome.Failed refused(Answer answer, boolean completes) {
        if (answer.code().equals("NoSuchUpload")) {
            // Ended by somebody, or completed by a try whose answer was lost. Another one is begun.
            upload.forget();
            return new StoreWriter.Outcome.Failed("", false);
        }
        if (answer.status() < 300) {
            return new StoreWriter.Outcome.Failed("", completes);
        }
        StoreWriter.Outcome.Failed outcome = StoreWriter.refused(answer.response);
        return new StoreWriter.Outcome.Failed(outcome.problem(),
                completes && outcome.isUnknown());
    }

    private CompletionStage<Answer> ask(String method, String query, Headers headers,
            Payload payload, @Nullable Duration timeout) {
        BackendRequest request = new BackendRequest(method, pending.name().target(query), headers,
                payload, caller, timeout);
        return StoreWriter.send(store, request).thenCompose(MultipartWriter::read);
    }

    private static CompletionStage<Answer> read(BackendResponse answer) {
        return BodyDrain.collect(answer.body(), MOST_ANSWER_BYTES)
                .thenApply(document -> new Answer(answer,
                        new String(document, StandardCharsets.UTF_8)));
    }
}
