package io.railhead.gateway.object.write;

import io.railhead.backend.BackendResponse;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.StagedUpload;
import io.railhead.cache.Writes;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.freshness.Probe;
import io.railhead.gateway.object.read.ObjectProbe;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.request.S3Request;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A PutObject's body that is copied into pages on its way to the store. The pages are served after
 * a HEAD, sent after the store's response, has confirmed version and size. A failure of the copy
 * never fails the upload. Executor only.
 */
final class WriteThroughUpload {
    private final ReadServices services;
    private final Executor executor;
    private final S3Request request;
    private @Nullable StagedUpload staged;
    private long length;

    WriteThroughUpload(ReadServices services, Executor executor, S3Request request) {
        this.services = services;
        this.executor = executor;
        this.request = request;
    }

    /** Returns the body, with a copy into pages if the rule allows that. */
    Publisher<ByteBuffer> tap(Publisher<ByteBuffer> body, long length) {
        if (!mayKeep(length)) {
            return body;
        }
        StagedUpload room = services.cache()
                .tryStage(length,
                        ReadRules.tenant(request));
        if (room == null) {
            count("no_memory");
            return body;
        }
        this.staged = room;
        this.length = length;
        return subscriber -> body.subscribe(new Copying(subscriber, room));
    }

    private boolean mayKeep(long length) {
        Rule rule = request.route().rule();
        return rule.cache() == CacheMode.READS_AND_WRITES && length > 0
                && services.cache().keepsNew()
                && length <= rule.maxObject().bytes() && ReadRules.isCacheable(request);
    }

    private void count(String outcome) {
        services.metrics().uploadsKept.labels(outcome).inc();
    }

    /**
     * Ends the upload with the store's response, or null without one; called once.
     *
     * @param generation the write epoch that the write's end returned
     */
    void settle(@Nullable BackendResponse answer, long generation) {
        StagedUpload upload = staged;
        if (upload == null) {
            return;
        }
        staged = null;
        String etag = answer == null ? null : answer.headers().get("etag");
        String reason = reasonNot(upload, answer, etag, generation);
        if (answer == null || etag == null || reason != null) {
            upload.close();
            count(reason == null ? "refused" : reason);
            return;
        }
        ObjectId id = request.objectId();
        String versionId = answer.headers().get("x-amz-version-id");
        confirm(upload, new ObjectVersion(id, etag, versionId == null ? "" : versionId, length),
                generation);
    }

    private static @Nullable String reasonNot(StagedUpload upload,
            @Nullable BackendResponse answer, @Nullable String etag, long generation) {
        if (answer == null || !answer.isSuccess() || etag == null) {
            return "refused";
        }
        if (!upload.isWhole()) {
            return "no_memory";
        }
        return generation == Writes.DISTURBED ? "overtaken" : null;
    }

    private void confirm(StagedUpload upload, ObjectVersion uploaded, long generation) {
        ObjectId id = uploaded.object();
        new ObjectProbe(services).probe(request, id, ReadRules.grant(request, id))
                .whenComplete((probe, failure) -> executor
                        .execute(() -> confirmed(upload, uploaded, generation, probe)));
    }

    private void confirmed(StagedUpload upload, ObjectVersion uploaded, long generation,
            @Nullable Probe probe) {
        if (!(probe instanceof Probe.Found(ObjectMetadata found))
                || !found.version().equals(uploaded)) {
            upload.close();
            count("unconfirmed");
        } else if (found.generation() == generation && services.cache().keep(found, upload)) {
            count("kept");
        } else {
            upload.close();
            count("overtaken");
        }
    }

    /** Copies the bytes that pass, and forwards them unchanged. */
    private record Copying(Subscriber<? super ByteBuffer> to,
            StagedUpload staged) implements Subscriber<ByteBuffer> {

        @Override
        public void onSubscribe(Subscription subscription) {
            to.onSubscribe(subscription);
        }

        @Override
        public void onNext(ByteBuffer bytes) {
            staged.write(bytes.duplicate());
            to.onNext(bytes);
        }

        @Override
        public void onError(Throwable cause) {
            to.onError(cause);
        }

        @Override
        public void onComplete() {
            to.onComplete();
        }
    }
}
