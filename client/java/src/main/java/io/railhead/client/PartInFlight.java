package io.railhead.client;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** A part on its way into a lent window. */
record PartInFlight(CompletableFuture<Part> part, Window window, Windows lender) {

    /** Waits, delivers the part, and gives the window back. */
    Part finish(PartSink sink) throws IOException {
        try {
            Part delivered = FutureFailures.join(part);
            sink.accept(delivered.offset(), window.bytes(delivered.bytes()));
            return delivered;
        } finally {
            giveUp();
        }
    }

    /** Gives the window back once nothing writes into it any more. */
    void giveUp() {
        var _ = part.whenComplete((_, _) -> lender.giveBack(window));
    }
}
