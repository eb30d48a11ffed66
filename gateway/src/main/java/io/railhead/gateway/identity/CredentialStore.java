package io.railhead.gateway.identity;

import io.railhead.backend.Caller;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.s3.Guard;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The current content of {@code credentials.yaml}; sessions of its roles are opened by
 * {@link RoleSessions}. Lookups: any thread, never block. An unusable file leaves the earlier
 * content in force.
 */
public final class CredentialStore implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CredentialStore.class);

    /** Null if no secret is held. */
    private final @Nullable FileWatch file;
    /** Null if no token is exchanged for a session. */
    private final @Nullable RoleSessions sessions;
    private final List<Consumer<CredentialChange>> listeners = new CopyOnWriteArrayList<>();
    private volatile Credentials current = Credentials.NONE;

    @FunctionalInterface
    private interface Parser {
        Credentials parse(Path file, byte[] content) throws ConfigException;
    }

    private CredentialStore(Path path, Parser parser,
            GatewayConfig.@Nullable WebIdentity webIdentity) throws ConfigException {
        sessions = webIdentity == null ? null : RoleSessions.open(webIdentity, this::tell);
        file = new FileWatch("gateway.credentials", List.of(path),
                contents -> replace(parser.parse(path, contents.getFirst())));
        file.load();
    }

    private CredentialStore() {
        file = null;
        sessions = null;
    }

    /** Returns a store without any. */
    public static CredentialStore none() {
        return new CredentialStore();
    }

    /** Opens the credentials that the configured authentication needs. Blocks. */
    public static CredentialStore open(GatewayConfig.Gateway gateway) throws ConfigException {
        String trusted = gateway.access().trustedPrincipal();
        if (gateway.access().mode() == AuthMode.PASS_THROUGH) {
            return none();
        }
        GatewayConfig.WebIdentity webIdentity = gateway.webIdentity();
        if (trusted != null) {
            return new CredentialStore(gateway.credentials(), (path, content) -> Credentials
                    .parse(path, content, Set.of())
                    .requireOneTenant(path, trusted), null);
        }
        Set<String> issuers = webIdentity == null ? Set.of() : webIdentity.issuers().keySet();
        return new CredentialStore(gateway.credentials(),
                (path, content) -> Credentials.parse(path, content, issuers), webIdentity);
    }

    /** Reads the file for the first time; it has no roles. Blocks. */
    public static CredentialStore load(Path file) throws ConfigException {
        return new CredentialStore(file,
                (path, content) -> Credentials.parse(path, content, Set.of()), null);
    }

    /**
     * Returns the owner of an access key; null if there is none. A session may have expired: its
     * caller compares {@link RoleSession#expiresAt}.
     *
     * @param sessionToken null if the request has none
     */
    public @Nullable Identity find(String accessKeyId, @Nullable String sessionToken) {
        Identity found = current.find(accessKeyId);
        return found != null || sessionToken == null ? found : session(accessKeyId, sessionToken);
    }

    /** Returns whether an access key could be a session's, by its name. */
    public static boolean isOfSession(String accessKeyId) {
        return accessKeyId.startsWith(CredentialSeal.PREFIX);
    }

    /**
     * Returns whom an access key was made for, for the audit of a refused request; null if nobody
     * knows. The sender has not proved that the key is its own.
     *
     * @param sessionToken null if the request has none
     */
    public @Nullable KeyOwner findOwner(String accessKeyId, @Nullable String sessionToken) {
        Credentials under = current;
        Identity known = under.find(accessKeyId);
        if (known != null) {
            return new KeyOwner(known.principal().name(), known.principal().tenant(), "");
        }
        return sessions == null || sessionToken == null
                ? null
                : sessions.findOwner(under, accessKeyId, sessionToken);
    }

    private @Nullable Identity session(String accessKeyId, String token) {
        return sessions == null ? null : sessions.find(current, accessKeyId, token);
    }

    /**
     * Returns the owner of a key that was found before; null if the key has been removed or
     * revoked, or its session is over. Allocates nothing while nothing changes.
     */
    public @Nullable Identity findAgain(AccessKey key) {
        RoleSession session = key.session();
        Secret token = key.sessionToken();
        if (session == null || token == null) {
            return current.find(key.id());
        }
        return session.isOverAt(System.currentTimeMillis())
                ? null
                : session(key.id(), token.reveal());
    }

    /** Returns the role of this name; null if there is none. */
    public @Nullable Role findRole(String name) {
        return current.roles().get(name);
    }

    /** Returns whether there is neither a principal nor a role. */
    public boolean isEmpty() {
        return current.principals().isEmpty() && current.roles().isEmpty();
    }

    /** Returns the names of all roles, in file order. */
    public Set<String> roles() {
        return current.roles().keySet();
    }

    /** Returns credentials that carry the session to any gateway with the same key. */
    public AccessKey seal(RoleSession session) {
        if (sessions == null) {
            throw new IllegalStateException("gateway.web_identity is missing");
        }
        return sessions.seal(session);
    }

    /** Returns the principal that a session acts as now; null if it is revoked. */
    public @Nullable Principal principalOf(RoleSession session) {
        return current.principalOf(session);
    }

    /** Returns whether principals and sessions may belong to more than one tenant. */
    public boolean areOfSeveralTenants() {
        return current.areOfSeveralTenants();
    }

    /** Returns whether somebody may be of the tenant: a role may name it by a token's claims. */
    public boolean hasTenant(String tenant) {
        return current.hasTenant(tenant);
    }

    /** Returns whether somebody may be the principal: a role may name it by a token's claims. */
    public boolean isPrincipal(String name) {
        return current.isPrincipal(name);
    }

    /** Returns warnings about revocations that end nothing, one line each. */
    public List<String> idleRevocations() {
        return current.idleRevocations();
    }

    /** Returns whether some role names the claim, so that its sessions have it. */
    public boolean isClaim(String path) {
        return current.roles().values().stream().anyMatch(role -> role.names(path));
    }

    /** Returns an identity that stores know, for probes of them; null if there is none. */
    public @Nullable Caller anyAtStore() {
        return current.anyAtStore();
    }

    public @Nullable Principal findPrincipal(String name) {
        return current.findPrincipal(name);
    }

    /** Returns all principals, in file order. */
    public List<Principal> principals() {
        return current.principals();
    }

    /** Returns every secret of the file, to be masked in texts that leave the gateway. */
    public List<String> secrets() {
        return current.secrets();
    }

    /** Returns allowed settings that the site should know of, one line each. */
    public List<String> warnings() {
        return current.warnings();
    }

    /**
     * Adds a listener, called after each reload that removed, altered or added a principal or a
     * role, on the reloading thread.
     */
    public void onChange(Consumer<CredentialChange> listener) {
        listeners.add(listener);
    }

    /** Starts looking at the file once a second, on a virtual thread, until closed. */
    public void watch() {
        if (file != null) {
            file.watch();
        }
        if (sessions != null) {
            sessions.watch();
        }
    }

    /** Looks at the file now. Blocks. */
    public void reload() {
        if (file != null) {
            file.look();
        }
        if (sessions != null) {
            sessions.reload();
        }
    }

    private void replace(Credentials next) {
        CredentialChange ofFile = current.until(next);
        CredentialChange change = sessions == null ? ofFile : sessions.with(ofFile, next);
        current = next;
        LOG.info("credentials: {} principals, {} roles", next.principals().size(),
                next.roles().size());
        next.idleRevocations().forEach(LOG::warn);
        tell(change);
    }

    private void tell(CredentialChange change) {
        if (!change.isEmpty()) {
            listeners.forEach(listener -> tell(listener, change));
        }
    }

    /** Guarded: one listener's failure must not keep another's sessions alive. */
    private static void tell(Consumer<CredentialChange> listener, CredentialChange change) {
        Guard.run(() -> listener.accept(change),
                thrown -> LOG.error("a listener failed on changed credentials", thrown));
    }

    /** Sets the listener that learns of each changed file whether it is in force. */
    public void tell(FileWatch.Outcome listener) {
        if (file != null) {
            file.tell(listener);
        }
    }

    /**
     * Sets the listener that learns of each changed file of session keys whether it is in force.
     */
    public void tellOfKeys(FileWatch.Outcome listener) {
        if (sessions != null) {
            sessions.tell(listener);
        }
    }

    /** Stops looking at the file. */
    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
        if (sessions != null) {
            sessions.close();
        }
    }
}
