package io.railhead.cli.reading;

/**
 * What the client process answers, one line of JSON. Time and processor time are those of the
 * transfer alone: checking the bytes happens between two transfers and is not in them.
 *
 * @param requests that it sent for the objects' bytes
 * @param problem empty, or what was wrong; then no figure counts
 */
record Measured(long bytes, long requests, double seconds, double cpuSeconds, double p50Us,
        double p99Us, String problem) {

    static Measured failed(String problem) {
        return new Measured(0, 0, 0, 0, 0, 0, problem);
    }
}
