package io.railhead.gateway.object.cacheonly;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BackendStats;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.PercentCodec;
import io.railhead.backend.Target;
import io.railhead.cache.CacheOnlyObjects;
import io.railhead.cache.CacheOnlyObjects.Raised;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.object.delete.DeletionList;
import io.railhead.gateway.object.read.HeldRead;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One tenant's cache-only objects, in place of a store. Refusals fail the stage with
 * {@link S3Refusal}. Operations that need a store are answered 501.
 *
 * @param namespace the place of the tenant's names
 * @param tenant the owner of the memory; "" for none
 */
record CacheOnlyBackend(CacheOnlyStore store, String namespace, String tenant,
        Rule rule) implements Backend {

    @Override
    public String name() {
        return CacheOnlyObjects.BACKEND;
    }

    @Override
    public Capabilities capabilities() {
        return Capabilities.ASSUMED;
    }

    @Override
    public CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller) {
        return CompletableFuture.completedStage(Capabilities.ASSUMED);
    }

    @Override
    public boolean isReachable() {
        return true;
    }

    @Override
    public BackendStats stats() {
        return new BackendStats(0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0);
    }

    @Override
    public void close() {
        // Nothing is open.
    }

    CacheOnlyObjects objects() {
        return store.cache().cacheOnly();
    }

    /**
     * Answers a fill, whose page is not in memory. An object that went to disk is brought back
     * whole, which fails the fill: its reader looks once more, and finds the page. Otherwise the
     * object is gone.
     */
    @Override
    public CompletionStage<BackendResponse> fetch(BackendRequest request, FetchTurn turn) {
        ObjectId id = idOf(String.valueOf(request.target().bucket()), request.target().rawKey());
        String etag = request.headers().get("if-match");
        return objects().raise(id).thenApply(raised -> {
            ObjectMetadata held = objects().find(id);
            if (held == null || !held.version().etag().equals(etag)) {
                return new BackendResponse(404, Headers.NONE, FixedBody.EMPTY);
            }
            throw new S3Refusal(S3Error.SLOW_DOWN, raised == Raised.NO_ROOM
                    ? "The gateway has no room now to read this object from its disk."
                    : "The object went to the gateway's disk while it was read.");
        });
    }

    @Override
    public CompletionStage<BackendResponse> send(BackendRequest request) {
        try {
            return serve(request);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private CompletionStage<BackendResponse> serve(BackendRequest request) {
        Target target = request.target();
        String bucket = target.bucket();
        if (bucket == null) {
            throw unknown();
        }
        if (store.isRefused(bucket)) {
            throw refused(bucket);
        }
        Query query = Query.require(target.rawQuery());
        return target.rawKey().isEmpty()
                ? ofBucket(request, query)
                : ofObject(request, query, idOf(bucket, target.rawKey()));
    }

    private ObjectId idOf(String bucket, String rawKey) {
        return new ObjectId(CacheOnlyObjects.BACKEND, namespace, bucket,
                PercentCodec.decodeName(rawKey), null);
    }

    private CompletionStage<BackendResponse> ofObject(BackendRequest request, Query query,
            ObjectId id) {
        return switch (request.method()) {
            case "PUT" -> {
                requireKnown(query.allNames(name -> name.equals("x-id")));
                yield new CacheOnlyUpload(this, request, id).start();
            }
            case "GET", "HEAD" -> {
                requireKnown(query.allNames(name -> name.equals("x-id")
                        || name.equals("versionId") || name.equals("partNumber")
                        || name.startsWith("response-")));
                yield request.method().equals("HEAD")
                        ? CompletableFuture.completedStage(read(request, query, id))
                        : objects().raise(id).thenApply(raised -> {
                            if (raised == Raised.NO_ROOM) {
                                throw CacheOnlyUpload.full();
                            }
                            return read(request, query, id);
                        });
            }
            case "DELETE" -> {
                requireKnown(query.allNames(name -> name.equals("x-id")
                        || name.equals("versionId")));
                delete(request, id, query.get("versionId"));
                yield CompletableFuture.completedStage(
                        new BackendResponse(204, Headers.NONE, FixedBody.EMPTY));
            }
            default -> throw unknown();
        };
    }

    private BackendResponse read(BackendRequest request, Query query, ObjectId id) {
        return new HeldRead((held, from, to) -> new PagesBody(store.cache(), held.version(), from,
                to), request, query).of(require(id, query));
    }

    private ObjectMetadata require(ObjectId id, Query query) {
        ObjectMetadata held = isCurrent(query.get("versionId")) ? objects().find(id) : null;
        if (held == null) {
            throw new S3Refusal(query.has("versionId")
                    ? S3Error.NO_SUCH_VERSION
                    : S3Error.NO_SUCH_KEY);
        }
        return held;
    }

    /** Throws {@code S3Refusal}, with nothing deleted, unless the object is as the client says. */
    private void delete(BackendRequest request, ObjectId id, @Nullable String versionId) {
        requireKnown(!request.headers()
                .anyName(name -> name.toLowerCase(Locale.ROOT).startsWith("x-amz-if-match-")));
        String ifMatch = request.headers().get("if-match");
        if (ifMatch == null) {
            delete(id, versionId);
        } else if (!isCurrent(versionId)
                || !objects().deleteIf(id, held -> HeldRead.names(ifMatch, held))) {
            throw new S3Refusal(S3Error.PRECONDITION_FAILED);
        }
    }

    /** Deletes the object, of which there is one version. */
    private void delete(ObjectId id, @Nullable String versionId) {
        if (isCurrent(versionId)) {
            boolean _ = objects().delete(id);
        }
    }

    private static boolean isCurrent(@Nullable String versionId) {
        return versionId == null || versionId.isEmpty() || versionId.equals("null");
    }

    private CompletionStage<BackendResponse> ofBucket(BackendRequest request, Query query) {
        if (request.method().equals("HEAD")) {
            return CompletableFuture
                    .completedStage(new BackendResponse(200, Headers.NONE, FixedBody.EMPTY));
        }
        if (request.method().equals("GET") && query.has("location")) {
            return CompletableFuture.completedStage(
                    document("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<LocationConstraint"
                            + " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>"));
        }
        if (request.method().equals("POST") && query.has("delete")
                && request.payload() instanceof Payload.Bytes(ByteBuffer content)) {
            // A document of 4 MiB takes longer to parse than an event loop may block.
            return CompletableFuture.supplyAsync(
                    () -> delete(String.valueOf(request.target().bucket()), content),
                    Thread::startVirtualThread);
        }
        throw unknown();
    }

    private BackendResponse delete(String bucket, ByteBuffer content) {
        byte[] document = new byte[content.remaining()];
        content.duplicate().get(document);
        DeletionList list = DeletionList.parse(document);
        requireKnown(list.entries().stream().noneMatch(DeletionList.Entry::isConditional));
        list.entries()
                .forEach(entry -> delete(new ObjectId(CacheOnlyObjects.BACKEND, namespace, bucket,
                        entry.key(), null), entry.versionId()));
        return document(list.deleted());
    }

    private static BackendResponse document(String xml) {
        byte[] bytes = xml.getBytes(StandardCharsets.UTF_8);
        return new BackendResponse(200, Headers.builder()
                .add("content-type", "application/xml")
                .add("content-length", Integer.toString(bytes.length))
                .build(), new FixedBody(ByteBuffer.wrap(bytes)));
    }

    private static void requireKnown(boolean known) {
        if (!known) {
            throw unknown();
        }
    }

    static S3Refusal refused(String bucket) {
        return new S3Refusal(S3Error.SERVICE_UNAVAILABLE, "A store has the bucket " + bucket
                + ", so the gateway's rule durability: none cannot be used for it.");
    }

    private static S3Refusal unknown() {
        return new S3Refusal(S3Error.NOT_IMPLEMENTED,
                "Cache-only objects know no such operation: the rule says durability: none.");
    }
}
