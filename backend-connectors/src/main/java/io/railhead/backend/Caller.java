package io.railhead.backend;

import org.jspecify.annotations.Nullable;

/** In whose name a request is sent to the store. */
public sealed interface Caller {

    /** Not signed: what the public may do. */
    record Anonymous() implements Caller {}

    /**
     * Signed by the client itself, or not at all: path, query, headers and body go on as they came,
     * so that its signature holds.
     *
     * @param host as the client named the store
     */
    record ClientSigned(String host) implements Caller {}

    /** Signed with what the SDK's default provider chain gives at that moment. */
    record DefaultChain() implements Caller {}

    /** Signed with SigV4. Never logged: {@link #toString} shows the access key only. */
    record Credential(String accessKey, String secretKey,
            @Nullable String sessionToken) implements Caller {
        @Override
        public String toString() {
            return "Credential[" + accessKey + "]";
        }
    }
}
