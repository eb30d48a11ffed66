package io.railhead.backend;

import org.jspecify.annotations.Nullable;

/** The identity that a request is sent to the store with. */
public sealed interface Caller {

    /** An unsigned request, with the rights of the public. */
    record Anonymous() implements Caller {}

    /**
     * A request with the client's own signature, or with none. Path, query, headers and body are
     * forwarded unchanged, so that the signature holds.
     *
     * @param host the store's name in the client's request
     */
    record ClientSigned(String host) implements Caller {}

    /** A request signed with the current credentials of the SDK's default provider chain. */
    record DefaultChain() implements Caller {}

    /**
     * A request signed by SigV4 with this credential. Never logged: {@link #toString} shows the
     * access key only.
     */
    record Credential(String accessKey, String secretKey,
            @Nullable String sessionToken) implements Caller {
        @Override
        public String toString() {
            return "Credential[" + accessKey + "]";
        }
    }
}
