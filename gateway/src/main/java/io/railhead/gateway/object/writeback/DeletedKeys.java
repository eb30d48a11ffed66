package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.FixedBody;
import io.railhead.gateway.object.delete.DeletionList;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a DeleteObjects, whose discarded objects are forgotten where the store has deleted
 * them. Any thread; nothing blocks.
 *
 * @param list the request's document
 * @param through {@link DiscardedWrites#newest} before the request
 */
record DeletedKeys(DiscardedWrites discards, PendingName.Bucket bucket, ByteBuffer list,
        long through) {
    /** Ten times the length of S3's answer for a thousand keys. */
    private static final int MOST_ANSWER_BYTES = 16 << 20;

    /** Returns the same answer, once it has been read whole: it names the keys that are left. */
    CompletionStage<BackendResponse> noted(BackendResponse answer) {
        // Parsing a thousand keys takes longer than a store's own thread may.
        return BodyDrain.collect(answer.body(), MOST_ANSWER_BYTES).thenApplyAsync(document -> {
            note(DeletionList.tryRefused(document));
            return new BackendResponse(answer.status(), answer.headers(),
                    new FixedBody(ByteBuffer.wrap(document)));
        });
    }

    /** Returns all keys of a request's document; "" alone, for any, if it is no list. */
    static Set<String> all(ByteBuffer list) {
        try {
            return parse(list).entries()
                    .stream()
                    .map(DeletionList.Entry::key)
                    .collect(Collectors.toSet());
        } catch (S3Refusal e) {
            return Set.of("");
        }
    }

    private static DeletionList parse(ByteBuffer list) {
        byte[] document = new byte[list.remaining()];
        list.duplicate().get(document);
        return DeletionList.parse(document);
    }

    private void note(@Nullable Set<String> refused) {
        if (refused == null) {
            return;
        }
        for (DeletionList.Entry entry : parse(list).entries()) {
            // A deletion of one version says nothing of the key's newest.
            if (entry.versionId() == null && !refused.contains(entry.key())) {
                discards.changed(new PendingName.Identity(bucket, entry.key()),
                        through);
            }
        }
    }
}
