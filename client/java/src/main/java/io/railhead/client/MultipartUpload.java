package io.railhead.client;

/**
 * An upload in parts that a store has begun.
 *
 * @param id the store's
 * @param partBytes the size of each part but the last
 */
record MultipartUpload(ObjectName name, String id, long partBytes) {
    /** S3's limit. */
    static final int MOST_PARTS = 10_000;

    MultipartUpload {
        if (id.isEmpty()) {
            throw new IllegalArgumentException("id must not be empty");
        }
        if (partBytes < 1) {
            throw new IllegalArgumentException("partBytes must be >= 1: " + partBytes);
        }
    }
}
