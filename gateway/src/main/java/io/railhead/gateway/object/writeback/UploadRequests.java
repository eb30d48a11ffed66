package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.writeback.LogOwner;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of multipart uploads whose parts are in the log. Refusals fail the stage with
 * {@code S3Refusal}.
 *
 * @param store what the log writes to later
 */
record UploadRequests(WriteBack writeBack, Backend store, WriteBackBackend.Writer writer) {
    private static final long LONGEST_PART = 5L << 30;
    /** Ten thousand parts with checksums, as verbose as clients are. */
    private static final int LONGEST_LIST = 4 << 20;
    private static final int MOST_LISTED = 1000;

    /** Answers a request that names such an upload. */
    CompletionStage<BackendResponse> serve(BackendRequest request, PendingName named, Query query,
            String id) {
        try {
            return switch (request.method()) {
                case "PUT" -> part(request, require(id, named), number(query));
                case "POST" -> complete(request, named, id);
                case "DELETE" -> abort(require(id, named));
                case "GET" -> CompletableFuture.completedStage(list(require(id, named), query));
                default -> throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED);
            };
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private OpenUpload require(String id, PendingName named) {
        return writeBack.uploads().require(id, writer.principal(), named);
    }

    /**
     * Begins an upload in the log.
     *
     * @param otherwise sends the request to the store, which is what happens if there is no room
     */
    CompletionStage<BackendResponse> begin(PendingName named, Map<String, String> kept,
            Supplier<CompletionStage<BackendResponse>> otherwise) {
        if (!writeBack.room().isThereForUploads(owner())
                || !writeBack.uploads().mayBegin(writer.principal())
                || !writeBack.tryArrive(store)) {
            return otherwise.get();
        }
        LogRecord.Head head = new LogRecord.Head(writer.principal(), writer.namespace(), named,
                kept);
        return writeBack.uploads()
                .begin(head, owner().name())
                .handle((begun, failure) -> begun == null
                        ? otherwise.get()
                        : CompletableFuture.completedStage(UploadXml.begun(begun)))
                .thenCompose(answer -> answer)
                .whenComplete((_, _) -> writeBack.arrived(store));
    }

    private LogOwner owner() {
        return writeBack.ownerOf(writer.principal());
    }

    private static int number(Query query) {
        String number = query.get("partNumber");
        if (number == null || !number.matches("[0-9]{1,5}") || Integer.parseInt(number) < 1
                || Integer.parseInt(number) > Completion.MOST_PARTS) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    "Part number must be an integer between 1 and 10000, inclusive.");
        }
        return Integer.parseInt(number);
    }

    private CompletionStage<BackendResponse> part(BackendRequest request, OpenUpload upload,
            int number) {
        if (request.headers().contains(PutHeaders.COPY_SOURCE)) {
            return copy(PartCopy.of(request), upload, number);
        }
        Set<String> trailers = request.payload() instanceof Payload.Stream stream
                ? stream.trailers().keySet()
                : Set.of();
        Map<String, String> sums = PutHeaders.requirePart(request.headers(), trailers);
        return take(request.payload(), upload, number, sums);
    }

    private CompletionStage<BackendResponse> copy(PartCopy copy, OpenUpload upload, int number) {
        if (upload.sumHeader() != null) {
            throw new S3Refusal(S3Error.NOT_IMPLEMENTED, "An upload at the gateway's disk with a"
                    + " checksum algorithm takes no copies.");
        }
        PendingName from = PendingName.of(store.name(), String.valueOf(copy.source().bucket()),
                copy.source().rawKey());
        return writeBack.settledWithBucket(from)
                .thenCompose(_ -> copy.from(store,
                        bytes -> take(bytes, upload, number, Map.of())
                                .thenApply(part -> UploadXml.copied(
                                        String.valueOf(part.headers().get("etag")),
                                        writeBack.nowMillis()))));
    }

    /** Takes a part whose length is known. */
    private CompletionStage<BackendResponse> take(Payload payload, OpenUpload upload, int number,
            Map<String, String> sums) {
        long length = DiskBody.lengthBytes(payload);
        if (length < 0) {
            throw new S3Refusal(S3Error.MISSING_CONTENT_LENGTH);
        }
        if (length > LONGEST_PART) {
            throw new S3Refusal(S3Error.ENTITY_TOO_LARGE);
        }
        if (writeBack.log().isTooLong(owner(), length)) {
            throw new S3Refusal(S3Error.ENTITY_TOO_LARGE, "The part is larger than the gateway's"
                    + " write-back log, or than the tenant's share of it.");
        }
        upload.arrives();
        return writeBack.room()
                .of(owner(), length)
                .thenCompose(room -> DiskBody.take(payload, room,
                        received -> commit(upload, number, sums, received)))
                .whenComplete((_, _) -> upload.arrived());
    }

    private CompletionStage<BackendResponse> commit(OpenUpload upload, int number,
            Map<String, String> declared, DiskBody.Received received) {
        LogUpload bytes = received.upload();
        try {
            Map<String, String> sums = new TreeMap<>(declared);
            sums.putAll(received.trailers());
            String sumHeader = upload.sumHeader();
            String sum = sumHeader == null ? "" : sums.get(sumHeader);
            if (sum == null) {
                throw new S3Refusal(S3Error.INVALID_REQUEST,
                        "The upload was begun with a checksum algorithm: each part needs "
                                + sumHeader + ".");
            }
            LogRecord.Part part = new LogRecord.Part(upload.id(), number, received.etag(), sum,
                    writeBack.nowMillis());
            return upload.add(part, bytes).thenApply(_ -> DiskPut.stored(received.etag(), sums));
        } catch (RuntimeException | Error e) {
            bytes.close();
            return CompletableFuture.failedStage(e);
        }
    }

    private CompletionStage<BackendResponse> abort(OpenUpload upload) {
        return writeBack.uploads()
                .abort(upload)
                .thenApply(_ -> new BackendResponse(204, Headers.NONE, FixedBody.EMPTY))
                .exceptionallyCompose(
                        failure -> CompletableFuture.failedStage(DiskBody.refusal(failure)));
    }

    private static BackendResponse list(OpenUpload upload, Query query) {
        return UploadXml.parts(upload, bounded(query, "part-number-marker", 0, Integer.MAX_VALUE),
                bounded(query, "max-parts", MOST_LISTED, MOST_LISTED));
    }

    private static int bounded(Query query, String name, int otherwise, int most) {
        String value = query.get(name);
        if (value == null || value.isEmpty()) {
            return otherwise;
        }
        if (!value.matches("[0-9]{1,9}")) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT, name + " must be a number.");
        }
        return Math.min(Integer.parseInt(value), most);
    }

    private CompletionStage<BackendResponse> complete(BackendRequest request, PendingName named,
            String id) {
        PutHeaders.requireCompletion(request.headers());
        CompletionStage<byte[]> document = switch (request.payload()) {
            case Payload.Empty _ -> CompletableFuture.completedStage(new byte[0]);
            case Payload.Bytes(ByteBuffer content) ->
                BodyDrain.collect(new FixedBody(content), LONGEST_LIST);
            case Payload.Stream stream -> BodyDrain.collect(stream.body(), LONGEST_LIST);
        };
        // A long list is not for an event loop.
        return document.exceptionallyCompose(UploadRequests::tooLong)
                .thenApplyAsync(Completion::parse, Thread::startVirtualThread)
                .thenCompose(list -> writeBack
                        .mayAcknowledge(store, named.inBucket(), writer.principal(),
                                request.caller())
                        .thenCompose(may -> complete(list, named, id, request.headers(), may)));
    }

    private static CompletionStage<byte[]> tooLong(Throwable failure) {
        return CompletableFuture.failedStage(Turn.causeOf(failure) instanceof BackendException known
                && known.reason() == BackendException.Reason.OVERSIZED
                        ? new S3Refusal(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED)
                        : failure);
    }

    /** @param may whether the answer may come before the store has the object */
    private CompletionStage<BackendResponse> complete(Completion list, PendingName named,
            String id, Headers headers, boolean may) {
        return completed(list, named, id, headers)
                .exceptionallyCompose(failure -> again(list, named, id, failure))
                .thenCompose(write -> may
                        ? CompletableFuture.completedStage(UploadXml.completed(write, "disk"))
                        : writeBack.settled(named)
                                .thenApply(_ -> UploadXml.completed(write, "store")));
    }

    private CompletionStage<LogRecord.Write> completed(Completion list, PendingName named,
            String id, Headers headers) {
        OpenUpload upload;
        try {
            upload = require(id, named);
        } catch (S3Refusal e) {
            return CompletableFuture.failedStage(e);
        }
        return upload.end(parts -> {
            List<LogPart> chosen = list.chosen(parts, upload.sumHeader());
            LogRecord.Head head = withSum(upload, chosen);
            PutHeaders.requireSame(headers, head.headers(), OpenUploads.bytesOf(chosen));
            LogRecord.Write write = new LogRecord.Write(head,
                    Completion.etag(chosen.stream().map(LogPart::etag).toList()),
                    writeBack.nowMillis(), id);
            return writeBack.acknowledge(write, chosen, upload.entriesBut(chosen))
                    .thenApply(_ -> write);
        });
    }

    private static LogRecord.Head withSum(OpenUpload upload, List<LogPart> chosen) {
        LogRecord.Head begun = upload.head();
        Map<String, String> headers = new TreeMap<>(begun.headers());
        String sumHeader = upload.sumHeader();
        if (sumHeader != null) {
            headers.put(sumHeader, Completion.composite(sumHeader, chosen));
        }
        return new LogRecord.Head(begun.principal(), begun.namespace(), begun.name(), headers);
    }

    /** Answers a completion that was sent again, since its first answer may have been lost. */
    private CompletionStage<LogRecord.Write> again(Completion list, PendingName named, String id,
            Throwable failure) {
        LogRecord.@Nullable Write before = Turn.causeOf(failure) instanceof S3Refusal refused
                && refused.error() == S3Error.NO_SUCH_UPLOAD
                        ? writeBack.uploads().findCompleted(id, writer.principal(), named)
                        : null;
        return before != null && before.etag().equals(list.etag())
                ? CompletableFuture.completedStage(before)
                : CompletableFuture.failedStage(DiskBody.refusal(failure));
    }
}
