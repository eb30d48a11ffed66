package io.railhead.client;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Takes an object's bytes part by part. With several streams, several threads call it at once, for
 * disjoint ranges in any order; with one stream, the calling thread calls it in order.
 */
public interface PartSink {

    /**
     * Takes one complete part, whose length was checked. The buffer is the memory of the delivery
     * (registered memory over loopback) and is valid only during the call.
     */
    void accept(long offset, ByteBuffer bytes) throws IOException;
}
