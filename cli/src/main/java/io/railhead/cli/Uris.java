package io.railhead.cli;

import io.railhead.client.ObjectName;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Objects as the command line names them; a bad name is misuse. */
final class Uris {
    private Uris() {}

    static ObjectName object(CommandSpec spec, String uri) {
        try {
            return ObjectName.parse(uri);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
