package io.railhead.cli.reading;

/**
 * The client process's result, one line of JSON. Times and processor times are those of the passes
 * alone, all over one span: the bytes are checked between two passes.
 *
 * @param passes over all objects
 * @param bytes of all passes
 * @param requests that it sent for the objects' bytes
 * @param gatewayCpuSeconds 0 where its process was not named
 * @param problem empty, or what was wrong; then no figure counts
 */
record ReadingResult(int passes, long bytes, long requests, double seconds, double cpuSeconds,
        double gatewayCpuSeconds, double p50Us, double p99Us, String problem) {

    static ReadingResult failed(String problem) {
        return new ReadingResult(0, 0, 0, 0, 0, 0, 0, 0, problem);
    }
}
