package io.railhead.client;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Takes an object's bytes part by part. With several streams it is called by several threads at
 * once, for disjoint ranges in any order; with one, in order by the calling thread.
 */
public interface PartSink {

    /**
     * Takes one complete, length-checked part. The buffer is the memory that the transport
     * delivered into (registered memory over loopback) and is the callee's only during the call.
     */
    void accept(long offset, ByteBuffer bytes) throws IOException;
}
