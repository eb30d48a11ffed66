package io.railhead.gateway;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One run of a gateway under test, with the folder of its files. */
record RunningGateway(Path folder, CredentialStore credentials, Gateway gateway)
        implements
            AutoCloseable {

    /** Starts it; nothing is left behind where that fails. */
    static RunningGateway start(Map<String, String> files, String overrides, URI store,
            Environment environment) throws IOException, ConfigException {
        Path folder = Files.createTempDirectory("railhead-test");
        CredentialStore credentials = null;
        RunningGateway started = null;
        try {
            for (Map.Entry<String, String> file : files.entrySet()) {
                Files.writeString(folder.resolve(file.getKey()), file.getValue());
            }
            Path yaml = write(folder, overrides, store);
            credentials = CredentialStore.open(ConfigLoader.load(yaml).gateway());
            started = new RunningGateway(folder, credentials,
                    Gateway.start(ConfigLoader.load(yaml), credentials, environment));
            return started;
        } finally {
            if (started == null) {
                undo(credentials, folder);
            }
        }
    }

    private static Path write(Path folder, String overrides, URI store) throws IOException {
        return Files.writeString(folder.resolve("railhead.yaml"),
                TestConfig.text(overrides, store, socket(folder)));
    }

    private static Path socket(Path folder) {
        return folder.resolve("loopback.sock");
    }

    Path socket() {
        return socket(folder);
    }

    void reload(String overrides, URI store) throws IOException, ConfigException {
        gateway.reload(ConfigLoader.load(write(folder, overrides, store)));
    }

    @Override
    public void close() {
        try {
            gateway.close();
        } finally {
            undo(credentials, folder);
        }
    }

    private static void undo(@Nullable CredentialStore credentials, Path folder) {
        if (credentials != null) {
            credentials.close();
        }
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
