package io.railhead.cache;

import org.jspecify.annotations.Nullable;

/** Asks the backend about an object whose version is not known: one ranged GET. */
@FunctionalInterface
public interface DiscoverySource {

    /** Sends the request and returns at once; {@code flight} hears the outcome on any thread. */
    void send(Flight flight);

    /** The flight's owner ends it with exactly one of these. */
    interface Flight {

        /**
         * The answer's headers arrived, for bytes {@code [offset, offset + length)}; its metadata
         * is indexed if no write overtook it.
         *
         * @return where the body's bytes go, published to all who wait, or null where there is no
         *         memory for them or nothing to fill: then the body is the owner's alone
         */
        PageSource.@Nullable Sink found(ObjectMetadata metadata, long offset, long length);

        /**
         * The owner was refused, or the backend failed: those who joined must ask for themselves.
         */
        void failed();

        /** The same where nobody knows how far its owner came; changes nothing once it ended. */
        void failedIfUnanswered();
    }
}
