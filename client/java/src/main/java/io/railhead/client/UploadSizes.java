package io.railhead.client;

/**
 * The sizes by which a file is sent.
 *
 * @param singlePutBytes the largest object that is one request over HTTP
 * @param partBytes of a part of an upload
 */
record UploadSizes(long singlePutBytes, long partBytes) {
    static final UploadSizes DEFAULT = new UploadSizes(64L << 20, 16L << 20);
}
