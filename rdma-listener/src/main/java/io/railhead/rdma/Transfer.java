package io.railhead.rdma;

import io.railhead.cache.memory.PageSlice;
import java.util.concurrent.CompletionStage;

/**
 * One request's bytes under way. Calls come one at a time, from the request's own thread; stages
 * complete on the fabric's threads.
 *
 * <p> The transfer owns a slice until its bytes have moved or the fence has completed. Time may
 * trigger a fence, never the end of a lease.
 */
public interface Transfer {

    /**
     * Writes the slice into the peer's memory at {@code bufferOffset} from the remote buffer's
     * start. The slice is closed once its bytes are there; on failure, once nothing can touch it.
     */
    CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset);

    /**
     * Reads peer memory at {@code bufferOffset} into the slice's bytes. The stage returns the slice
     * to the caller; on failure the transfer has closed it.
     */
    CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset);

    /**
     * Stops the transfer. When the stage completes, no byte of the transfer moves any more, and all
     * its slices are closed. Ends the transfer; needed only for a request that cannot be finished.
     */
    CompletionStage<Void> fence();
}
