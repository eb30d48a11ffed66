package io.railhead.cli.reading;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.JsonLineProcess;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The client process, as the command that started it uses it. One thread. */
final class ReadingClient {
    private final JsonLineProcess process;

    private ReadingClient(JsonLineProcess process) {
        this.process = process;
    }

    /** @param name of its log and manifest, unique for each process */
    static ReadingClient start(String name, Origin origin, Children children)
            throws IOException {
        Path file = Files.writeString(children.folder().resolve(name + "-manifest.json"),
                Json.line(origin.manifest()));
        return new ReadingClient(new JsonLineProcess(children.start(name,
                Children.railhead(List.of("-Xmx256m"), "reading-client", "--manifest",
                        file.toString()),
                origin.environment(), Redirect.PIPE), name, children));
    }

    ReadingResult read(Reading reading) throws IOException {
        ReadingResult readingResult = process.ask(reading, ReadingResult.class);
        if (!readingResult.problem().isEmpty()) {
            throw new IOException(readingResult.problem());
        }
        return readingResult;
    }
}
