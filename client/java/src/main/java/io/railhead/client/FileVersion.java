package io.railhead.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;

/** The identity of a file's content, which a write to the file changes. */
record FileVersion(long bytes, Instant modified) {

    static FileVersion of(Path file) throws IOException {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        return new FileVersion(found.size(), found.lastModifiedTime().toInstant());
    }
}
