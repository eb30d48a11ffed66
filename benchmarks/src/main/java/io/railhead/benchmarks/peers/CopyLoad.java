package io.railhead.benchmarks.peers;

import io.railhead.os.Mapping;
import java.io.IOException;
import java.util.function.BooleanSupplier;

/**
 * The bound for one-sided delivery on one host. One thread only copies the object, from memory like
 * a cache's into windows like a client's.
 */
record CopyLoad(ClientWindows windows) implements Load {
    @Override
    public void run(BooleanSupplier stopped, Meter meter) throws IOException {
        try (Mapping object = Mapping.anonymous(windows.windowBytes())) {
            object.segment().copyFrom(windows.content());
            for (int next = 0; !stopped.getAsBoolean() || next < windows.count(); next++) {
                long began = System.nanoTime();
                windows.at(next).copyFrom(object.segment());
                meter.done(System.nanoTime() - began, windows.windowBytes());
            }
            windows.requireAllDelivered(windows.count());
        }
    }
}
