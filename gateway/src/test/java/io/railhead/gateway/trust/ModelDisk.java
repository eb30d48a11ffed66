package io.railhead.gateway.trust;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/** The disk of a model's gateway: a file for each of its lives that a kill ended. */
final class ModelDisk implements AutoCloseable {
    private final Path folder;
    private int killed;

    ModelDisk() {
        try {
            folder = Files.createTempDirectory("railhead-model");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path path() {
        return folder.resolve("disk-" + killed);
    }

    /**
     * Keeps the disk as it is now for the next life, while the gateway still writes: what it writes
     * from then on is lost, as by a kill.
     */
    void kill() {
        Path before = path();
        killed++;
        try {
            Files.copy(before, path(), COPY_ATTRIBUTES);
            // Open still, by the life that ends: only its name goes.
            Files.delete(before);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
