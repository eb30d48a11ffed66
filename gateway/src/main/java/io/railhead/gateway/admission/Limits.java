package io.railhead.gateway.admission;

/**
 * The limits of admission.
 *
 * @param requests the most requests in flight
 * @param bytes the most bytes of their bodies in both directions, each body counted up to
 *            {@code windowBytes}
 * @param windowBytes the most bytes that one request holds at a time
 */
public record Limits(int requests, long bytes, long windowBytes) {

    public Limits {
        if (requests <= 0) {
            throw new IllegalArgumentException("requests must be > 0: " + requests);
        }
        if (windowBytes <= 0 || bytes < windowBytes) {
            throw new IllegalArgumentException(
                    "bytes must be >= windowBytes > 0: " + bytes + ", " + windowBytes);
        }
    }
}
