package io.railhead.gateway.identity;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig.WebIdentity;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The sealed sessions of roles: seals new ones, opens those that clients send, and keeps the opened
 * ones. Lookups: any thread, never block. What a session may do follows from the credentials that
 * each call is given.
 */
final class RoleSessions implements AutoCloseable {
    /** The sessions that need not be opened anew; more than a rack has processes. */
    private static final int MAX_OPENED = 32_768;

    private final CredentialSeal seal = CredentialSeal.random();
    /** Null if the keys are this process's own. */
    private final @Nullable FileWatch keyFile;
    private final Consumer<CredentialChange> ended;
    /** By session token. */
    private final Cache<String, Opened> opened = Caffeine.newBuilder()
            .maximumSize(MAX_OPENED)
            .build();

    /**
     * @param under the content that the session's principal follows from
     * @param generation the seal's, read before the session was opened
     */
    private record Opened(Credentials under, Object generation, Identity identity) {

        @SuppressWarnings("ReferenceEquality")
        boolean holds(Credentials now, CredentialSeal seal) {
            return under == now && generation == seal.generation();
        }
    }

    private RoleSessions(@Nullable Path keys, Consumer<CredentialChange> ended) {
        this.ended = ended;
        keyFile = keys == null
                ? null
                : new FileWatch("gateway.web_identity.session_keys", List.of(keys),
                        contents -> replaceKeys(CredentialSeal.parse(keys, contents.getFirst())));
    }

    /**
     * Reads the session keys, if there is a file of them. Blocks.
     *
     * @param ended learns of the principals whose sessions end with a former key
     */
    static RoleSessions open(WebIdentity webIdentity, Consumer<CredentialChange> ended)
            throws ConfigException {
        RoleSessions sessions = new RoleSessions(webIdentity.sessionKeys(), ended);
        if (sessions.keyFile != null) {
            sessions.keyFile.load();
        }
        return sessions;
    }

    /** Returns credentials that carry the session to any gateway with the same key. */
    AccessKey seal(RoleSession session) {
        return seal.seal(session);
    }

    /**
     * Returns whose the session is; null if it cannot be opened, or the credentials give it no
     * principal. It may have expired.
     *
     * @param under the credentials in force, read before this call
     */
    @Nullable
    Identity find(Credentials under, String accessKeyId, String token) {
        Object generation = seal.generation();
        Opened known = opened.getIfPresent(token);
        if (known == null || !known.holds(under, seal)) {
            AccessKey key = seal.open(accessKeyId, token);
            Identity identity = key == null ? null : identity(under, key);
            if (identity == null) {
                return null;
            }
            known = new Opened(under, generation, identity);
            opened.put(token, known);
        }
        return known.identity().key().id().equals(accessKeyId) ? known.identity() : null;
    }

    /** Returns whom a session was made for, also after it ended; null if it cannot be opened. */
    @Nullable
    KeyOwner findOwner(Credentials under, String accessKeyId, String token) {
        AccessKey key = seal.open(accessKeyId, token);
        RoleSession session = key == null ? null : key.session();
        if (session == null) {
            return null;
        }
        Principal principal = under.formerPrincipalOf(session);
        return principal == null
                ? new KeyOwner(session.roleName(), "", accessKeyId)
                : new KeyOwner(principal.name(), principal.tenant(), accessKeyId);
    }

    private static @Nullable Identity identity(Credentials under, AccessKey key) {
        RoleSession session = key.session();
        Principal principal = session == null ? null : under.principalOf(session);
        return principal == null ? null : new Identity(principal, key);
    }

    /** Adds the principals of sessions that end, or act as another principal from now on. */
    CredentialChange with(CredentialChange change, Credentials next) {
        Set<String> vanished = new HashSet<>(change.vanished());
        Set<String> changed = new HashSet<>(change.changed());
        for (Opened one : opened.asMap().values()) {
            Identity after = identity(next, one.identity().key());
            Principal before = one.identity().principal();
            if (after == null) {
                vanished.add(before.name());
            } else if (!after.principal().equals(before)) {
                changed.add(before.name());
            }
        }
        return new CredentialChange(vanished, changed, change.added());
    }

    /** Opens every session anew under the other keys: those of a former key end. */
    private void replaceKeys(CredentialSeal other) {
        seal.replace(other);
        Set<String> vanished = new HashSet<>();
        for (Map.Entry<String, Opened> one : opened.asMap().entrySet()) {
            Identity identity = one.getValue().identity();
            if (seal.open(identity.key().id(), one.getKey()) == null) {
                opened.invalidate(one.getKey());
                vanished.add(identity.principal().name());
            }
        }
        ended.accept(new CredentialChange(vanished, Set.of(), Set.of()));
    }

    /** Starts looking at the keys once a second, on a virtual thread, until closed. */
    void watch() {
        if (keyFile != null) {
            keyFile.watch();
        }
    }

    /** Looks at the keys now. Blocks. */
    void reload() {
        if (keyFile != null) {
            keyFile.look();
        }
    }

    /** Sets the listener that learns of each changed file of keys whether it is in force. */
    void tell(FileWatch.Outcome listener) {
        if (keyFile != null) {
            keyFile.tell(listener);
        }
    }

    @Override
    public void close() {
        if (keyFile != null) {
            keyFile.close();
        }
    }
}
