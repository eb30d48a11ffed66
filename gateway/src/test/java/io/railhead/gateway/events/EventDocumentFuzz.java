package io.railhead.gateway.events;

/** What stores post to the event endpoint: events, or refused as none. */
public final class EventDocumentFuzz {

    private EventDocumentFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            switch (EventDocument.parse(input)) {
                case EventDocument.Changes(var changes, int ignored) -> {
                    if (ignored < 0 || changes.stream().anyMatch(c -> c.keys().isEmpty())) {
                        throw new AssertionError();
                    }
                }
                case EventDocument.Test _,EventDocument.Subscription _ -> {
                }
            }
        } catch (EventDocument.MalformedException e) {
            // As it should be.
        }
    }
}
