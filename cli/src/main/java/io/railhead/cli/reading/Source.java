package io.railhead.cli.reading;

import io.railhead.client.ObjectName;
import io.railhead.client.RailheadClient;
import io.railhead.client.Read;
import io.railhead.client.RegisteredBuffer;
import java.io.IOException;
import java.util.concurrent.CompletionException;

/** A source of objects, which are read into the reader's memory. */
interface Source {
    /** Delivers a part to {@code at} of the memory. No transfer is under way after the return. */
    void read(Manifest.Entry entry, long first, int bytes, long at) throws IOException;

    static Source of(RailheadClient client, String bucket, RegisteredBuffer memory) {
        return (entry, first, bytes, at) -> {
            ObjectName name = new ObjectName(bucket, entry.key());
            try {
                long total = client.get(Read.of(name, first, bytes, memory, at))
                        .toCompletableFuture()
                        .join()
                        .total();
                if (total != entry.bytes()) {
                    throw new IOException(
                            name + " has " + total + " bytes, not " + entry.bytes());
                }
            } catch (CompletionException e) {
                throw e.getCause() instanceof IOException failure
                        ? failure
                        : new IOException(e.getMessage(), e);
            }
        };
    }
}
