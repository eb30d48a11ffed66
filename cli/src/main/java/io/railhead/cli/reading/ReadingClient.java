package io.railhead.cli.reading;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.Respondent;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The client process, seen from the command that started it. One thread. */
final class ReadingClient {
    private final Respondent process;

    private ReadingClient(Respondent process) {
        this.process = process;
    }

    /**
     * @param name of its log and manifest, another one for each process
     */
    static ReadingClient start(String name, Origin origin, Children children)
            throws IOException {
        Path file = Files.writeString(children.folder().resolve(name + "-manifest.json"),
                Json.line(origin.manifest()));
        return new ReadingClient(new Respondent(children.start(name,
                Children.railhead(List.of("-Xmx256m"), "reading-client", "--manifest",
                        file.toString()),
                origin.environment(), Redirect.PIPE), name, children));
    }

    Measured read(Reading reading) throws IOException {
        Measured measured = process.ask(reading, Measured.class);
        if (!measured.problem().isEmpty()) {
            throw new IOException(measured.problem());
        }
        return measured;
    }
}
