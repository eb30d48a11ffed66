package io.railhead.gateway.object.cacheonly;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.CacheOnlyPut;
import io.railhead.cache.CacheOnlyTerms;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.StagedUpload;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * One PutObject of a cache-only object. The body is copied into pages as it comes. The object is
 * there once the whole body was verified, or not at all. Nothing waits for memory: without room the
 * put is refused. The publisher's thread.
 */
final class CacheOnlyUpload implements Subscriber<ByteBuffer> {
    private static final String META = "x-amz-meta-";
    /**
     * S3's bound of {@code x-amz-meta-} names and values, here with all other headers that are
     * kept.
     */
    private static final int MAX_METADATA_BYTES = 2048;
    private static final String CHECKSUM = "x-amz-checksum-";
    private static final Set<String> KEPT = Set.of("content-type", "cache-control",
            "content-disposition", "content-encoding", "content-language", "expires");
    /** Checksum headers that are none of the bytes. */
    private static final Set<String> NO_SUMS = Set.of(CHECKSUM + "algorithm", CHECKSUM + "mode",
            CHECKSUM + "type");

    private final CacheOnlyBackend backend;
    private final BackendRequest request;
    private final ObjectId id;
    private final CompletableFuture<@Nullable Void> arrived = new CompletableFuture<>();
    private final boolean onlyIfAbsent;
    private @Nullable StagedUpload staged;

    /** Throws {@code S3Refusal} if a header asks for what memory alone cannot give. */
    CacheOnlyUpload(CacheOnlyBackend backend, BackendRequest request, ObjectId id) {
        this.backend = backend;
        this.request = request;
        this.id = id;
        BodyReader.requireVerifiable(request.headers());
        String ifNoneMatch = request.headers().get("if-none-match");
        this.onlyIfAbsent = ifNoneMatch != null;
        if (request.headers().anyName(CacheOnlyUpload::isBeyondMemory)
                || request.headers().contains("if-match")
                || (ifNoneMatch != null && !ifNoneMatch.strip().equals("*"))) {
            throw new S3Refusal(S3Error.NOT_IMPLEMENTED, "A header asks for what cache-only objects"
                    + " do not have: a copy, encryption, object lock, tags, an ACL, or a condition"
                    + " other than If-None-Match: *.");
        }
    }

    private static boolean isBeyondMemory(String header) {
        String lower = header.toLowerCase(Locale.ROOT);
        return lower.startsWith("x-amz-copy-source") || lower.startsWith("x-amz-object-lock-")
                || lower.startsWith("x-amz-server-side-encryption")
                || lower.equals("x-amz-acl") || lower.startsWith("x-amz-grant-")
                || lower.equals("x-amz-tagging") || lower.equals("x-amz-write-offset-bytes");
    }

    /** Throws {@code S3Refusal} if the head alone decides. */
    CompletionStage<BackendResponse> start() {
        long size = sizeBytes();
        requireAbsent(size);
        StagedUpload room = backend.store().cache().keepsNew()
                ? backend.store().cache().tryStage(size, backend.tenant())
                : null;
        if (room == null) {
            backend.objects().noteRefused();
            throw full();
        }
        staged = room;
        switch (request.payload()) {
            case Payload.Empty _ -> onComplete();
            case Payload.Bytes(ByteBuffer content) -> {
                onNext(content.duplicate());
                onComplete();
            }
            case Payload.Stream stream -> stream.body().subscribe(this);
        }
        return arrived.thenCompose(_ -> put(room, size));
    }

    private long sizeBytes() {
        long size = switch (request.payload()) {
            case Payload.Empty _ -> 0;
            case Payload.Bytes(ByteBuffer content) -> content.remaining();
            case Payload.Stream stream -> stream.lengthBytes();
        };
        if (size < 0) {
            throw new S3Refusal(S3Error.MISSING_CONTENT_LENGTH);
        }
        long most = Math.min(backend.rule().maxObject().bytes(),
                backend.store().cache().mostStagedBytes());
        if (size > most) {
            throw new S3Refusal(S3Error.ENTITY_TOO_LARGE, "A cache-only object may have " + most
                    + " bytes here: the rule's max_object, or a quarter of the cache.");
        }
        return size;
    }

    /** Refuses early what would be refused at the end, before the body is read. */
    private void requireAbsent(long size) {
        ObjectMetadata held = backend.objects().find(id);
        if (held != null && onlyIfAbsent) {
            throw new S3Refusal(S3Error.PRECONDITION_FAILED);
        }
        if (held != null && held.version().sizeBytes() != size) {
            throw new S3Refusal(S3Error.OBJECT_ALREADY_EXISTS);
        }
    }

    static S3Refusal full() {
        return new S3Refusal(S3Error.SLOW_DOWN,
                "The gateway has no room now for cache-only objects of this tenant.");
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuffer bytes) {
        StagedUpload room = staged;
        if (room != null) {
            room.write(bytes.duplicate());
        }
    }

    @Override
    public void onError(Throwable cause) {
        StagedUpload room = staged;
        if (room != null) {
            room.close();
        }
        arrived.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
        arrived.complete(null);
    }

    private CompletionStage<BackendResponse> put(StagedUpload ownedRoom, long size) {
        Map<String, String> headers;
        try {
            headers = headers();
        } catch (RuntimeException | Error e) {
            ownedRoom.close();
            throw e;
        }
        ObjectVersion version = new ObjectVersion(id, headers.getOrDefault("etag", ""), "", size);
        ObjectMetadata metadata = ObjectHeaders.cacheOnly(version, headers,
                new ObjectHeaders.Moment(backend.store().nanos(), 0));
        return backend.objects().put(metadata, ownedRoom, terms()).thenApply(this::answer);
    }

    private CacheOnlyTerms terms() {
        return backend.rule().freshness() instanceof Freshness.CacheOnly(CacheOnlyTerms terms)
                ? terms
                : new CacheOnlyTerms(Duration.ZERO, false);
    }

    private Map<String, String> headers() {
        Map<String, String> kept = new TreeMap<>();
        int[] metadataBytes = {0};
        request.headers().forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.startsWith(META)) {
                metadataBytes[0] += lower.length() - META.length() + value.length();
                kept.merge(lower, value, (first, next) -> first + "," + next);
            } else if (KEPT.contains(lower)) {
                metadataBytes[0] += lower.length() + value.length();
                kept.put(lower, value);
            } else if (isSum(lower)) {
                kept.put(lower, value);
            }
        });
        if (metadataBytes[0] > MAX_METADATA_BYTES) {
            throw new S3Refusal(S3Error.METADATA_TOO_LARGE);
        }
        if (request.payload() instanceof Payload.Stream stream) {
            addTrailers(stream.trailers(), kept);
        }
        if (kept.keySet().stream().anyMatch(CacheOnlyUpload::isSum)) {
            kept.put(CHECKSUM + "type", "FULL_OBJECT");
        }
        kept.putIfAbsent("content-type", "binary/octet-stream");
        kept.put("etag", backend.store().newEtag());
        kept.put("last-modified", HttpDate.text(backend.store().clock().instant()));
        return kept;
    }

    private static void addTrailers(Map<String, Supplier<String>> trailers,
            Map<String, String> kept) {
        trailers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (isSum(lower)) {
                kept.put(lower, value.get());
            }
        });
    }

    private static boolean isSum(String lower) {
        return lower.startsWith(CHECKSUM) && !NO_SUMS.contains(lower);
    }

    private BackendResponse answer(CacheOnlyPut end) {
        return switch (end) {
            case CacheOnlyPut.Stored(ObjectMetadata metadata) -> {
                requireRouted(metadata);
                yield stored(metadata);
            }
            case CacheOnlyPut.Same(ObjectMetadata held) -> {
                if (onlyIfAbsent) {
                    throw new S3Refusal(S3Error.PRECONDITION_FAILED);
                }
                yield stored(held);
            }
            case CacheOnlyPut.Other _ -> throw new S3Refusal(onlyIfAbsent
                    ? S3Error.PRECONDITION_FAILED
                    : S3Error.OBJECT_ALREADY_EXISTS);
            case CacheOnlyPut.Full _ -> throw full();
        };
    }

    /** Takes the object back if its bucket became another's while it was put. */
    private void requireRouted(ObjectMetadata metadata) {
        if (!backend.store().mayStay(id)) {
            boolean _ = backend.objects().deleteIf(id, metadata::equals);
            throw backend.store().isRefused(id.bucket())
                    ? CacheOnlyBackend.refused(id.bucket())
                    : new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                            "The gateway's rules changed during the upload.");
        }
    }

    private static BackendResponse stored(ObjectMetadata metadata) {
        Headers.Builder headers = Headers.builder()
                .add("etag", metadata.version().etag())
                .add("content-length", "0");
        metadata.headers().forEach((name, value) -> {
            if (name.startsWith(CHECKSUM)) {
                headers.add(name, value);
            }
        });
        return new BackendResponse(200, headers.build(), FixedBody.EMPTY);
    }
}
