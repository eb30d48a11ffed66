package io.railhead.gateway.identity;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.s3.Guard;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The current content of {@code credentials.yaml}. Lookups: any thread, never block. An unusable
 * file leaves the earlier content in force.
 */
public final class CredentialStore implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CredentialStore.class);

    /** Null if no secret is held. */
    private final @Nullable FileWatch file;
    private final List<Consumer<CredentialChange>> listeners = new CopyOnWriteArrayList<>();
    private volatile Credentials current = Credentials.NONE;

    @FunctionalInterface
    private interface Parser {
        Credentials parse(Path file, byte[] content) throws ConfigException;
    }

    private CredentialStore(Path path, Parser parser) throws ConfigException {
        file = new FileWatch("gateway.credentials", List.of(path),
                contents -> replace(parser.parse(path, contents.getFirst())));
        file.load();
    }

    private CredentialStore() {
        file = null;
    }

    /** Opens the credentials that the configured authentication needs. Blocks. */
    public static CredentialStore open(GatewayConfig.Gateway gateway) throws ConfigException {
        String trusted = gateway.access().trustedPrincipal();
        if (gateway.access().mode() == AuthMode.PASS_THROUGH) {
            return new CredentialStore();
        }
        return trusted == null
                ? load(gateway.credentials())
                : new CredentialStore(gateway.credentials(), (path, content) -> Credentials
                        .parse(path, content)
                        .requireOneTenant(path, trusted));
    }

    /** Reads the file for the first time. Blocks. */
    public static CredentialStore load(Path file) throws ConfigException {
        return new CredentialStore(file, Credentials::parse);
    }

    /** Returns the owner of an access key; null if there is none. */
    public @Nullable Identity find(String accessKeyId) {
        return current.find(accessKeyId);
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
        List<String> secrets = new ArrayList<>();
        for (Principal principal : principals()) {
            List<AccessKey> keys = new ArrayList<>(principal.keys());
            BackendCredential backend = principal.backend();
            if (backend != null && backend.key() != null) {
                keys.add(backend.key());
            }
            for (AccessKey key : keys) {
                secrets.add(key.secret().reveal());
                Secret token = key.sessionToken();
                if (token != null) {
                    secrets.add(token.reveal());
                }
            }
        }
        return secrets;
    }

    /** Returns allowed settings that the site should know of, one line each. */
    public List<String> warnings() {
        return current.warnings();
    }

    /**
     * Adds a listener, called after each reload that removed or altered a principal, on the
     * reloading thread.
     */
    public void onChange(Consumer<CredentialChange> listener) {
        listeners.add(listener);
    }

    /** Starts looking at the file once a second, on a virtual thread, until closed. */
    public void watch() {
        if (file != null) {
            file.watch();
        }
    }

    /** Looks at the file now. Blocks. */
    public void reload() {
        if (file != null) {
            file.look();
        }
    }

    private void replace(Credentials next) {
        CredentialChange change = current.until(next);
        current = next;
        LOG.info("credentials: {} principals", next.principals().size());
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

    /** Stops looking at the file. */
    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
    }
}
