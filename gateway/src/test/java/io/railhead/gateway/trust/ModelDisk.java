package io.railhead.gateway.trust;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

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

    /**
     * As {@link #kill}, with the file as it was at one moment: what had been flushed is all there.
     * Its gateway must come to rest now and then.
     */
    void killAtOneMoment() {
        Path before = path();
        killed++;
        try {
            do {
                Files.copy(before, path(), COPY_ATTRIBUTES, REPLACE_EXISTING);
            } while (Files.mismatch(before, path()) >= 0);
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
