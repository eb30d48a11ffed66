package io.railhead.cli.qualify;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.reading.Manifest;
import io.railhead.cli.reading.Origin;
import io.railhead.client.Via;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs the Python package's {@code check}: reads an object into a GPU's memory and compares it
 * there.
 *
 * @param python a Python interpreter with the packages railhead and torch
 */
record GpuCheck(String python, Origin origin, Children children) {
    private static final String LOG = "gpu";
    private static final int NOT_HERE = 69;
    private static final long MOST_MINUTES = 5;

    /** One way into the memory: a line of JSON that the program prints. */
    record Way(String device, String way, String via, String memory, double mibPerS) {}

    List<Way> run(URI gateway, Via via) throws IOException, Attempt.NotRunException {
        Manifest manifest = origin.manifest();
        List<String> command = new ArrayList<>(
                List.of(python, "-m", "railhead", "check", "--via",
                        via.name().toLowerCase(Locale.ROOT), "--device", "cuda", "--json"));
        manifest.entries()
                .forEach(entry -> command.add("s3://" + manifest.bucket() + "/" + entry.key()));
        Process process;
        try {
            process = children.start(LOG, command, environment(gateway),
                    Redirect.to(output().toFile()));
        } catch (IOException e) {
            throw new Attempt.NotRunException("there is no program " + python + "; name one that"
                    + " has the packages railhead and torch with --python");
        }
        return ways(process);
    }

    private List<Way> ways(Process process) throws IOException, Attempt.NotRunException {
        int status = await(process);
        String said = children.lastWords(LOG);
        if (status == NOT_HERE || said.contains("No module named")) {
            throw new Attempt.NotRunException(said);
        }
        if (status != 0) {
            throw new IOException(said);
        }
        List<Way> ways = new ArrayList<>();
        for (String line : Files.readAllLines(output())) {
            ways.add(Json.read(line, Way.class));
        }
        return ways;
    }

    private Path output() {
        return children.folder().resolve(LOG + ".json");
    }

    private static int await(Process process) throws IOException {
        try {
            if (process.waitFor(MOST_MINUTES, TimeUnit.MINUTES)) {
                return process.exitValue();
            }
            Children.end(process);
            throw new IOException("no end within " + MOST_MINUTES + " minutes");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private Map<String, String> environment(URI gateway) {
        Map<String, String> environment = new HashMap<>(origin.environment());
        environment.put("RAILHEAD_ENDPOINT", gateway.toString());
        return environment;
    }
}
