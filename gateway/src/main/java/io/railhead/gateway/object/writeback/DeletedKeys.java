package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.FixedBody;
import io.railhead.gateway.object.delete.DeletionList;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a DeleteObjects, whose discarded objects are forgotten where the store has deleted
 * them. Any thread; nothing blocks.
 *
 * @param list the request's document
 */
record DeletedKeys(DiscardedWrites discards, PendingName.Bucket bucket, ByteBuffer list) {
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

    private void note(@Nullable Set<String> refused) {
        if (refused == null) {
            return;
        }
        byte[] document = new byte[list.remaining()];
        list.duplicate().get(document);
        for (DeletionList.Entry entry : DeletionList.parse(document).entries()) {
            // A deletion of one version says nothing of the key's newest.
            if (entry.versionId() == null && !refused.contains(entry.key())) {
                discards.changed(new PendingName.Identity(bucket, entry.key()));
            }
        }
    }
}
