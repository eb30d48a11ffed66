package io.railhead.cache;

import org.jspecify.annotations.Nullable;

/** Asks the backend about an object of unknown version by one ranged GET. */
@FunctionalInterface
public interface DiscoverySource {

    /** Sends the request and returns at once; {@code flight} receives the outcome on any thread. */
    void send(Flight flight);

    /** The flight, which its owner ends by exactly one of these calls. */
    interface Flight {

        /**
         * Reports the response's headers, for bytes {@code [offset, offset + length)}. The metadata
         * is indexed unless a write has overtaken it.
         *
         * @return the sink of the body's bytes, whose pages all waiting readers see; null without
         *         memory or without missing pages: then the body is the owner's alone
         */
        PageSource.@Nullable Sink found(ObjectMetadata metadata, long offset, long length);

        /**
         * Reports that the owner was refused or the backend failed: callers that joined must ask
         * for themselves.
         */
        void failed();

        /** Reports a failure at an unknown point; changes nothing after the end. */
        void failedIfUnanswered();
    }
}
