package io.railhead.benchmarks.peers;

import java.io.IOException;
import java.util.function.BooleanSupplier;

/** Requests that follow one another, made by the thread that runs it. */
@FunctionalInterface
interface Load {
    /** Runs until it is stopped, or its work is done, and then checks the delivered bytes. */
    void run(BooleanSupplier stopped, Meter meter) throws IOException;
}
