package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** An argument for one object, a prefix or a whole bucket. */
final class ObjectsArgument {
    private static final String SCHEME = "s3://";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "s3://bucket[/key]", description = "The object; without a key, all of the bucket.")
    private String uri = "";

    @Option(names = {"-r",
            "--recursive"}, description = "Every object whose key begins with that one.")
    private boolean recursive;

    /** Returns the fields of the gateway's call. */
    ObjectNode body() {
        String[] parts = split(spec, uri);
        ObjectNode body = AdminOptions.JSON.createObjectNode().put("bucket", parts[0]);
        return body.put(recursive || parts[1].isEmpty() ? "prefix" : "key", parts[1]);
    }

    /** Returns bucket and key, "" for none. */
    static String[] split(CommandSpec spec, String uri) {
        String name = uri.startsWith(SCHEME) ? uri.substring(SCHEME.length()) : "";
        String[] parts = name.split("/", 2);
        if (parts[0].isEmpty()) {
            throw new ParameterException(spec.commandLine(),
                    "not s3://bucket[/key]: '" + uri + "'");
        }
        return new String[]{parts[0], parts.length > 1 ? parts[1] : ""};
    }
}
