package io.railhead.cli.reading;

import java.nio.file.Path;

/** A file, and the key of its object. */
public record SourceFile(String key, Path file) {}
