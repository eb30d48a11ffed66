package io.railhead.cli;

import io.railhead.client.ObjectName;
import java.nio.file.Path;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Objects as the command line names them; a bad name is misuse. */
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

    /**
     * Names the object that a file becomes. A bucket alone, or a key that ends in a slash, is a
     * folder, in which the file keeps its name.
     */
    static ObjectName destination(CommandSpec spec, String uri, Path file) {
        if (!FOLDER.matcher(uri).matches()) {
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
