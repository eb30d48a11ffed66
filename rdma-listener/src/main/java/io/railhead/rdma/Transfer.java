package io.railhead.rdma;

import io.railhead.cache.memory.PageSlice;
import java.util.concurrent.CompletionStage;

/**
 * One request's bytes on their way. Calls come one at a time, from the request's own thread; stages
 * complete on the fabric's threads.
 *
 * <p> A slice is owned by the transfer until its bytes have moved or the fence has returned: time
 * may trigger a fence, never the end of a lease.
 */
public interface Transfer {

    /**
     * Writes the slice into the peer's memory at {@code bufferOffset} from the remote buffer's
     * start. The slice is closed when its bytes are there, or on failure once nothing can touch it.
     */
    CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset);

    /**
     * Reads peer memory at {@code bufferOffset} into the slice's bytes. The slice comes back to the
     * caller with the stage; on failure the transfer has closed it.
     */
    CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset);

    /**
     * Stops: when the stage completes, no byte of this transfer moves any more and every slice it
     * owned is closed. Ends the transfer; needed only when a request cannot be finished.
     */
    CompletionStage<Void> fence();
}
