package io.railhead.cache;

/**
 * One immutable version of an object: pages of different versions never mix.
 *
 * @param etag the backend's ETag, quotes included
 * @param versionId the backend's version id; "" if it sent none
 * @param sizeBytes the whole object's size
 */
public record ObjectVersion(ObjectId object, String etag, String versionId, long sizeBytes) {

    public ObjectVersion {
        if (sizeBytes < 0) {
            throw new IllegalArgumentException("sizeBytes must be >= 0: " + sizeBytes);
        }
    }
}
