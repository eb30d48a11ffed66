package io.railhead.cli.reading;

/**
 * The client process's result, one line of JSON. All times and processor times cover the passes
 * only: bytes are checked between passes.
 *
 * @param passes the passes over all objects
 * @param bytes the bytes of all passes
 * @param requests the requests for the objects' bytes
 * @param gatewayCpuSeconds 0 if its process was not named
 * @param problem empty, or the fault; then no figure counts
 */
record ReadingResult(int passes, long bytes, long requests, double seconds, double cpuSeconds,
        double gatewayCpuSeconds, double p50Us, double p99Us, String problem) {

    static ReadingResult failed(String problem) {
        return new ReadingResult(0, 0, 0, 0, 0, 0, 0, 0, problem);
    }
}
