package io.railhead.gateway.auth;

import io.railhead.gateway.config.ConfigException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * {@code credentials.yaml} as it stands now. Lookups: any thread, never block. A file that cannot
 * be used leaves what was read before in force.
 */
public final class CredentialStore implements AutoCloseable {

    private CredentialStore() {}

    public static CredentialStore load(Path file) throws ConfigException {
        throw new UnsupportedOperationException(file.toString());
    }

    /** Who has this access key, or null. */
    public @Nullable Identity find(String accessKeyId) {
        throw new UnsupportedOperationException(accessKeyId);
    }

    /** All of them, in file order. */
    public List<Principal> principals() {
        throw new UnsupportedOperationException();
    }

    /** Things that are allowed but that the site should know, one line each. */
    public List<String> warnings() {
        throw new UnsupportedOperationException();
    }

    /** Called after each reload that took something away, on the thread that reloaded. */
    public void onChange(Consumer<CredentialChange> listener) {
        throw new UnsupportedOperationException(listener.toString());
    }

    /** Starts looking at the file once a second, on a virtual thread, until closed. */
    public void watch() {
        throw new UnsupportedOperationException();
    }

    /** Looks at the file now. Blocks. */
    public void reload() {
        throw new UnsupportedOperationException();
    }

    /** How often a changed file could not be used. */
    public long reloadFailures() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
