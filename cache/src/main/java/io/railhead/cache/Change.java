package io.railhead.cache;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A change that makes earlier knowledge outdated, as one gateway tells it to the others of its
 * cache. Accounts are not named: a store may show one object to several.
 */
public sealed interface Change {

    /**
     * The end of a write of one key, or news of one.
     *
     * @param versionId the written version; null for the current one
     * @param outcome DONE, or UNKNOWN while the store may still perform it
     */
    record OfKey(String backend, String bucket, String key, @Nullable String versionId,
            WriteOutcome outcome) implements Change {
        public OfKey {
            requireNonNull(backend, "backend is null");
            requireNonNull(bucket, "bucket is null");
            requireNonNull(key, "key is null");
            requireNonNull(outcome, "outcome is null");
        }

        static OfKey of(ObjectId id, WriteOutcome outcome) {
            return new OfKey(id.backend(), id.bucket(), id.key(), id.versionId(), outcome);
        }

        ObjectId id() {
            return new ObjectId(backend, "", bucket, key, versionId);
        }
    }

    /** The end of a write of unknown keys of a bucket; the outcome as for a key. */
    record OfBucket(String backend, String bucket, WriteOutcome outcome) implements Change {
        public OfBucket {
            requireNonNull(backend, "backend is null");
            requireNonNull(bucket, "bucket is null");
            requireNonNull(outcome, "outcome is null");
        }
    }

    /** An operator's eviction. */
    record Eviction(Selection selection) implements Change {
        public Eviction {
            requireNonNull(selection, "selection is null");
        }
    }
}
