package io.railhead.backend;

import java.net.URI;
import java.nio.file.Path;
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
     * A request signed with the credentials of a role that is assumed at a Security Token Service,
     * and renewed before they end.
     *
     * @param externalId null for none
     * @param sts the service's endpoint; null for AWS's own of the store's region
     * @param source the credential that assumes the role; null for the default provider chain
     * @param tokenFile the file of a web identity token that assumes the role in place of a
     *            credential, read anew each time; null for none
     */
    record AssumedRole(String arn, String sessionName, @Nullable String externalId,
            @Nullable URI sts, @Nullable Credential source,
            @Nullable Path tokenFile) implements Caller {}

    /** Returns whether a provider finds the credential, which may change between requests. */
    default boolean isProvided() {
        return this instanceof DefaultChain || this instanceof AssumedRole;
    }

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
