package io.railhead.backend;

/**
 * The most in a second, of a tenant or to a store; 0 for no limit.
 *
 * @param bytes of bodies in both directions, on average
 */
public record Rate(long requests, long bytes) {
    public static final Rate NONE = new Rate(0, 0);

    public Rate {
        if (requests < 0 || bytes < 0) {
            throw new IllegalArgumentException(
                    "requests and bytes must be >= 0: " + requests + ", " + bytes);
        }
    }
}
