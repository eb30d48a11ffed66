package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The arguments that name one pending object, or one open upload. */
final class PendingArgument {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "s3://bucket/key", description = "The pending object, or the open upload.")
    private String uri = "";

    @Option(names = "--id", required = true, paramLabel = "ID", description = "Its id, as 'railhead admin pending' lists it.")
    private String id = "";

    /** Returns the fields of the gateway's call. */
    ObjectNode body() {
        String[] parts = ObjectsArgument.split(spec, uri);
        if (parts[1].isEmpty()) {
            throw new ParameterException(spec.commandLine(), "not s3://bucket/key: '" + uri + "'");
        }
        return AdminOptions.JSON.createObjectNode()
                .put("bucket", parts[0])
                .put("key", parts[1])
                .put("id", id);
    }
}
