package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Body;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.ForwardingBackend;
import io.railhead.backend.Payload;
import io.railhead.backend.PercentCodec;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.writeback.LogReader;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.object.read.HeldRead;
import io.railhead.gateway.request.KeyReadings;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store as one caller sees it, with what is acknowledged and not there yet. A plain upload under
 * a rule with {@code acknowledge: disk} goes into the log. A pending object is read out of the log
 * by its writer. Everything else that a pending write could change waits for it, and fails after a
 * time: nothing is merged. Refusals fail the stage with {@code S3Refusal}.
 *
 * @param store what the log writes to later
 * @param atDisk whether any rule acknowledges writes to the request's bucket at the disk
 */
record WriteBackBackend(WriteBack writeBack, Backend store, Writer writer, Rule rule,
        boolean atDisk) implements ForwardingBackend {
    /** S3's bound of one upload. */
    private static final long LONGEST_PUT = 5L << 30;
    private static final int LONGEST_KEY = 1024;
    private static final List<String> SETTINGS = List.of("location", "policy", "policyStatus",
            "versioning", "encryption", "lifecycle", "acl", "cors", "tagging", "object-lock",
            "ownershipControls", "publicAccessBlock", "notification", "replication", "logging");

    /**
     * The caller.
     *
     * @param principal "" for nobody who is known
     * @param isKept whether its identity at the store outlives the request
     */
    record Writer(String principal, String namespace, boolean isKept) {}

    @Override
    public CompletionStage<BackendResponse> fetch(BackendRequest request, FetchTurn turn) {
        return served(request, () -> store.fetch(request, turn));
    }

    @Override
    public CompletionStage<BackendResponse> send(BackendRequest request) {
        return served(request, () -> store.send(request));
    }

    private CompletionStage<BackendResponse> served(BackendRequest request,
            Supplier<CompletionStage<BackendResponse>> forward) {
        String bucket = request.target().bucket();
        if (bucket == null) {
            return forward.get();
        }
        boolean reads = request.method().equals("GET") || request.method().equals("HEAD");
        if (request.target().rawKey().isEmpty()) {
            return ofBucket(request, new PendingName.Bucket(name(), bucket), forward);
        }
        PendingName named = PendingName.of(name(), request);
        Query query = Query.require(request.target().rawQuery());
        String upload = query.get("uploadId");
        if (upload != null && OpenUploads.isOurs(upload)) {
            return requests().serve(request, named, query, upload);
        }
        if (reads) {
            return read(request, named, forward);
        }
        if (isOfAnUpload(request)) {
            return beginUpload(request, named, () -> told(forward.get()));
        }
        Map<String, String> kept = tryKeep(request, named);
        return kept == null
                ? after(named, request, forward)
                : writeBack.mayAcknowledge(store, named.inBucket(), writer.principal,
                        request.caller())
                        .thenCompose(may -> may
                                ? put(request, named, kept, forward)
                                : after(named, request, forward));
    }

    private UploadRequests requests() {
        return new UploadRequests(writeBack, store, writer);
    }

    /** Begins a multipart upload in the log, if it is one, and if the log may have it. */
    private CompletionStage<BackendResponse> beginUpload(BackendRequest request, PendingName named,
            Supplier<CompletionStage<BackendResponse>> forward) {
        boolean isPlain = request.method().equals("POST") && isForTheLog(named)
                && Query.require(request.target().rawQuery())
                        .allNames(name -> name.equals("uploads") || name.equals("x-id"));
        Map<String, String> kept = isPlain ? PutHeaders.tryKeepUpload(request.headers()) : null;
        return kept == null
                ? forward.get()
                : writeBack.mayAcknowledge(store, named.inBucket(), writer.principal,
                        request.caller())
                        .thenCompose(may -> may
                                ? requests().begin(named, kept, forward)
                                : forward.get());
    }

    /** Returns whether an object may be in the log, by its rule, its writer and its key. */
    private boolean isForTheLog(PendingName named) {
        return rule.acknowledgesAtDisk() && writer.isKept
                && PutHeaders.bytes(named.key()) <= LONGEST_KEY
                && !KeyReadings.isAmbiguous(named.key());
    }

    /** Serves a request that names no key. */
    private CompletionStage<BackendResponse> ofBucket(BackendRequest request,
            PendingName.Bucket bucket, Supplier<CompletionStage<BackendResponse>> forward) {
        boolean isPlain = Query.require(request.target().rawQuery()).allNames("x-id"::equals);
        return switch (request.method()) {
            case "HEAD" -> forward.get();
            case "GET" -> saysNothingOfObjects(request)
                    ? forward.get()
                    : listsUploads(request) && writeBack.uploads().hasOpen(bucket)
                            ? CompletableFuture.failedStage(new S3Refusal(S3Error.NOT_IMPLEMENTED,
                                    "This bucket has open uploads at the gateway's disk, which the"
                                            + " store's list lacks: the administrator's call"
                                            + " pending lists them."))
                            : writeBack.settled(bucket).thenCompose(_ -> forward.get());
            // Creation and settings may be the cure of a write that the store refuses.
            case "PUT" -> told(writeBack.changing(bucket, forward));
            case "DELETE" -> told(writeBack.changing(bucket, () -> isPlain
                    ? writeBack.inTurn(bucket, ofAnyKey(), forward)
                    : forward.get()));
            default -> told(request.payload() instanceof Payload.Bytes(ByteBuffer list)
                    && deletesKeys(request)
                            ? writeBack.inTurn(bucket, ofKeys(list),
                                    deleting(list, bucket, forward))
                            : writeBack.inTurn(bucket, ofAnyKey(), forward));
        };
    }

    private BucketChange ofAnyKey() {
        return new BucketChange("", "", false, atDisk);
    }

    private BucketChange ofKeys(ByteBuffer list) {
        return new BucketChange("", "", false, atDisk, () -> DeletedKeys.all(list));
    }

    private static boolean deletesKeys(BackendRequest request) {
        return request.method().equals("POST")
                && Query.require(request.target().rawQuery()).has("delete");
    }

    /** Has a DeleteObjects end the discards from before it came. */
    private Supplier<CompletionStage<BackendResponse>> deleting(ByteBuffer list,
            PendingName.Bucket bucket, Supplier<CompletionStage<BackendResponse>> forward) {
        long through = writeBack.discards().newest();
        return () -> forward.get()
                .thenCompose(answer -> deleted(list, bucket, answer, through));
    }

    /** Notes the keys that a DeleteObjects has deleted, if any of the bucket was discarded. */
    private CompletionStage<BackendResponse> deleted(ByteBuffer list,
            PendingName.Bucket bucket, BackendResponse answer, long through) {
        DiscardedWrites discards = writeBack.discards();
        return answer.isSuccess()
                && discards.find(discarded -> discarded.name().bucket().equals(bucket)) != null
                        ? new DeletedKeys(discards, bucket, list, through).noted(answer)
                        : CompletableFuture.completedStage(answer);
    }

    /** Settings of a bucket are read at once: somebody may look for a stuck write's cause. */
    private static boolean saysNothingOfObjects(BackendRequest request) {
        Query query = Query.require(request.target().rawQuery());
        return SETTINGS.stream().anyMatch(query::has);
    }

    private static boolean listsUploads(BackendRequest request) {
        return Query.require(request.target().rawQuery()).has("uploads");
    }

    /** Returns whether a write changes no object before a multipart upload is completed. */
    private static boolean isOfAnUpload(BackendRequest request) {
        Query query = Query.require(request.target().rawQuery());
        return switch (request.method()) {
            case "POST" -> query.has("uploads");
            case "PUT" -> query.hasValue("uploadId") && query.has("partNumber")
                    && !request.headers().contains(PutHeaders.COPY_SOURCE);
            case "DELETE" -> query.hasValue("uploadId");
            default -> false;
        };
    }

    /** Notes at which level a write under this rule was acknowledged. */
    private CompletionStage<BackendResponse> told(CompletionStage<BackendResponse> answer) {
        return !rule.acknowledgesAtDisk()
                ? answer
                : answer.thenApply(stored -> {
                    if (!stored.isSuccess()) {
                        return stored;
                    }
                    writeBack.acknowledgedAtStore();
                    return new BackendResponse(stored.status(), stored.headers()
                            .toBuilder()
                            .set(PutHeaders.ACKNOWLEDGED, "store")
                            .build(), stored.body());
                });
    }

    /** Sends a write after the bucket's pending writes, and those of a copy's source. */
    private CompletionStage<BackendResponse> after(PendingName named, BackendRequest request,
            Supplier<CompletionStage<BackendResponse>> forward) {
        PendingName source = sourceOf(request);
        boolean isOfThisBucket = source == null || source.inBucket().equals(named.inBucket());
        String copied = source == null || !isOfThisBucket ? "" : source.key();
        // As it comes, not as it is sent: a write that is acknowledged meanwhile has a later place.
        long through = writeBack.discards().newest();
        BucketChange change = new BucketChange(named.key(), copied,
                request.method().equals("DELETE"), atDisk);
        Supplier<CompletionStage<BackendResponse>> turn = () -> writeBack.inTurn(named.inBucket(),
                change,
                () -> told(forward.get()).thenApply(answer -> changed(named, answer, through)));
        return source == null || isOfThisBucket
                ? turn.get()
                : writeBack.settledWithBucket(source).thenCompose(_ -> turn.get());
    }

    /** Notes that the store has a later state of an object than one that was discarded. */
    private BackendResponse changed(PendingName named, BackendResponse answer, long through) {
        if (answer.isSuccess()) {
            writeBack.discards().changed(named.identity(), through);
        }
        return answer;
    }

    private @Nullable PendingName sourceOf(BackendRequest request) {
        String source = request.headers().get(PutHeaders.COPY_SOURCE);
        if (source == null) {
            return null;
        }
        String raw = source.startsWith("/") ? source.substring(1) : source;
        int query = raw.indexOf('?');
        String path = PercentCodec.decodeName(query < 0 ? raw : raw.substring(0, query));
        int end = path.indexOf('/');
        return end < 0
                ? new PendingName(name(), path, "", "")
                : PendingName.of(name(), path.substring(0, end),
                        PercentCodec.encodePath(path.substring(end + 1)));
    }

    /** Returns the headers to keep of an upload that the log may take; null for all else. */
    private @Nullable Map<String, String> tryKeep(BackendRequest request, PendingName named) {
        long length = DiskBody.lengthBytes(request.payload());
        boolean isPlain = isForTheLog(named) && request.method().equals("PUT") && length >= 0
                && length <= LONGEST_PUT
                && Query.require(request.target().rawQuery()).allNames("x-id"::equals);
        Set<String> trailers = request.payload() instanceof Payload.Stream stream
                ? stream.trailers().keySet()
                : Set.of();
        return isPlain ? PutHeaders.tryKeep(request.headers(), trailers) : null;
    }

    private CompletionStage<BackendResponse> put(BackendRequest request, PendingName named,
            Map<String, String> kept, Supplier<CompletionStage<BackendResponse>> forward) {
        if (!writeBack.tryArrive(store)) {
            return after(named, request, forward);
        }
        LogUpload upload = writeBack.tryBegin(writer.principal,
                DiskBody.lengthBytes(request.payload()));
        if (upload == null) {
            writeBack.arrived(store);
            return after(named, request, forward);
        }
        LogRecord.Head head = new LogRecord.Head(writer.principal, writer.namespace, named, kept);
        return new DiskPut(writeBack, head, request.payload(), upload).start()
                .whenComplete((_, _) -> writeBack.arrived(store));
    }

    private CompletionStage<BackendResponse> read(BackendRequest request, PendingName named,
            Supplier<CompletionStage<BackendResponse>> forward) {
        PendingWrite pending = writeBack.find(named);
        if (pending == null) {
            return forward.get();
        }
        if (!isPlainRead(request) || !pending.isOf(writer.principal)) {
            return writeBack.settled(pending).thenCompose(_ -> forward.get());
        }
        LogReader reader = pending.tryRead(writeBack.log());
        if (reader == null) {
            return readAgain(pending, request, named, forward);
        }
        Bytes bytes = new Bytes(reader);
        try {
            return CompletableFuture.completedStage(new HeldRead(bytes, request,
                    Query.require(request.target().rawQuery())).of(pending.metadata()));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        } finally {
            bytes.closeUnused();
        }
    }

    /** Reads after the pending object has ended: where that was discarded, one may be left. */
    private CompletionStage<BackendResponse> readAgain(PendingWrite ended, BackendRequest request,
            PendingName named, Supplier<CompletionStage<BackendResponse>> forward) {
        if (!ended.equals(writeBack.find(named))) {
            return read(request, named, forward);
        }
        return ended.isLeaving()
                ? writeBack.settled(ended).thenCompose(_ -> read(request, named, forward))
                : forward.get();
    }

    /** Returns whether a read asks for nothing that only the store can tell. */
    private static boolean isPlainRead(BackendRequest request) {
        return Query.require(request.target().rawQuery()).allNames("x-id"::equals)
                && !request.headers().anyName(name -> {
                    String lower = name.toLowerCase(Locale.ROOT);
                    return lower.startsWith("x-amz-server-side-encryption")
                            || lower.equals("x-amz-expected-bucket-owner")
                            || lower.equals("origin");
                });
    }

    /** The reader of one answer, which its body closes if it has one. */
    private static final class Bytes implements HeldRead.Bytes {
        private final LogReader reader;
        private boolean used;

        Bytes(LogReader ownedReader) {
            this.reader = ownedReader;
        }

        @Override
        public Body of(ObjectMetadata held, long from, long to) {
            used = true;
            return new LogBody(reader, from, to, _ -> {});
        }

        void closeUnused() {
            if (!used) {
                reader.close();
            }
        }
    }
}
