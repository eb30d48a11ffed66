package io.railhead.cli.reading;

import io.railhead.cli.OneLine;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.ProcessCpu;
import io.railhead.client.AwsSettings;
import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.RailheadClient;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.Via;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The measured client, a process of its own: reads a {@link Reading} from each input line and
 * writes a {@link ReadingResult} line, until its input ends.
 */
@Command(name = "reading-client", hidden = true, description = "Reads for demo and bench site.")
public final class ReadingClientCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--manifest", required = true, description = "What the objects must contain.")
    private Path manifest = Path.of("");

    @Override
    public Integer call() throws IOException {
        Manifest expected = Json.read(Files.readString(manifest), Manifest.class);
        BufferedReader in = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ReadingResult readingResult = measure(expected, Json.read(line, Reading.class));
            spec.commandLine().getOut().println(Json.line(readingResult));
            spec.commandLine().getOut().flush();
        }
        return 0;
    }

    private static ReadingResult measure(Manifest expected, Reading reading) {
        ClientConfig config = new AwsSettings(System.getenv())
                .resolve(reading.endpoint(), null, null)
                .with(Via.valueOf(reading.via().toUpperCase(Locale.ROOT)))
                .with(Fallback.NONE);
        ProcessCpu gateway = reading.gatewayPid() == 0
                ? null
                : ProcessCpu.of(reading.gatewayPid());
        try (RailheadClient client = RailheadClient.connect(config);
                RegisteredBuffer memory = client.register(expected.totalBytes())) {
            ReadingResult readingResult = new Rounds(expected,
                    Source.of(client, expected.bucket(), memory), memory.memory(), gateway)
                    .run(reading.leastPasses(), reading.leastSeconds());
            if (!client.declines().isEmpty()) {
                throw new IOException("one-sided delivery was declined: " + client.declines());
            }
            return readingResult;
        } catch (IOException e) {
            return ReadingResult.failed(OneLine.of(e));
        }
    }
}
