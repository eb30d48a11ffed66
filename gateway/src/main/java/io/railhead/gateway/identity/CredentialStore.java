package io.railhead.gateway.identity;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.s3.Guard;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code credentials.yaml} as it stands now. Lookups: any thread, never block. A file that cannot
 * be used leaves what was read before in force.
 */
public final class CredentialStore implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CredentialStore.class);

    /** Null where no secret is held. */
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

    /** What the configuration's way of knowing callers needs. Blocks. */
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

    /** Who has this access key, or null. */
    public @Nullable Identity find(String accessKeyId) {
        return current.find(accessKeyId);
    }

    public @Nullable Principal findPrincipal(String name) {
        return current.findPrincipal(name);
    }

    /** All of them, in file order. */
    public List<Principal> principals() {
        return current.principals();
    }

    /** Things that are allowed but that the site should know, one line each. */
    public List<String> warnings() {
        return current.warnings();
    }

    /** Called after each reload that took something away, on the thread that reloaded. */
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

    /** One listener's failure must not keep another's sessions alive. */
    private static void tell(Consumer<CredentialChange> listener, CredentialChange change) {
        Guard.run(() -> listener.accept(change),
                thrown -> LOG.error("a listener failed on changed credentials", thrown));
    }

    /** Who is told of each changed file whether it could be used. */
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
