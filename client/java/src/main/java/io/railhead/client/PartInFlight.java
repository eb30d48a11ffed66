package io.railhead.client;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** A part on its way into a window that was lent for it. */
record PartInFlight(CompletableFuture<Part> part, Window window, Windows lender) {

    /** Waits, shows the part, and gives the window back. */
    Part finish(PartSink sink) throws IOException {
        try {
            Part delivered = FutureFailures.join(part);
            sink.accept(delivered.offset(), window.bytes(delivered.bytes()));
            return delivered;
        } finally {
            giveUp();
        }
    }

    /** Gives the window back once nobody writes into it any more. */
    void giveUp() {
        var _ = part.whenComplete((_, _) -> lender.giveBack(window));
    }
}
