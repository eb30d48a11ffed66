package io.railhead.cli.reading;

import java.nio.file.Path;

/** A file and the key of the object that it becomes. */
public record SourceFile(String key, Path file) {}
