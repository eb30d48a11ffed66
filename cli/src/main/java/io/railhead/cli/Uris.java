package io.railhead.cli;

import io.railhead.client.ObjectName;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Parses object names of the command line; a bad name is misuse. */
final class Uris {
    private static final Pattern FOLDER = Pattern.compile("s3://[^/]+|s3://[^/]+/(.*/)?",
            Pattern.DOTALL);
    private static final Pattern DESCRIPTORS = Pattern
            .compile("-|/dev/(stdin|fd/.*)|/proc/[^/]+/fd/.*");

    private Uris() {}

    static ObjectName object(CommandSpec spec, String uri) {
        try {
            return ObjectName.parse(uri);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /** Objects whose keys have one prefix. */
    record Folder(String bucket, String prefix) {}

    /** Parses a bucket alone, or a key that ends in a slash; null for an object. */
    static @Nullable Folder folder(String uri) {
        if (!FOLDER.matcher(uri).matches()) {
            return null;
        }
        String[] parts = uri.substring("s3://".length()).split("/", 2);
        return new Folder(parts[0], parts.length > 1 ? parts[1] : "");
    }

    /**
     * Returns the object that a file becomes. A bucket alone, or a key that ends in a slash, is a
     * folder, in which the file keeps its name.
     */
    static ObjectName destination(CommandSpec spec, String uri, Path file) {
        if (folder(uri) == null) {
            return object(spec, uri);
        }
        Path leaf = file.getFileName();
        if (leaf == null || DESCRIPTORS.matcher(file.toString()).matches()) {
            throw new ParameterException(spec.commandLine(),
                    "'" + file + "' gives the object no name: write the whole key in place of "
                            + uri);
        }
        return object(spec, (uri.endsWith("/") ? uri : uri + "/") + leaf);
    }
}
