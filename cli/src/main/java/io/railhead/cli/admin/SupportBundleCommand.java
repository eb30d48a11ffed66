package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.doctor.DoctorCommand;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Writes what a maintainer needs to look into a fault. It says what is in the file before it
 * collects anything, and writes nothing that it has not said.
 */
@Command(name = "support-bundle", description = {
        "Write a zip file with the state of a running gateway, for a report.",
        "Secrets are masked. Names of buckets, principals, hosts and addresses are in it: read it before you pass it on."})
final class SupportBundleCommand implements Callable<Integer> {
    private static final String DOCTOR = "doctor.json";
    private static final Map<String, String> PARTS = new LinkedHashMap<>();

    static {
        PARTS.put("version.json", "version, Java, operating system, uptime");
        PARTS.put("config.json", "the configuration in force, key by key, secrets masked");
        PARTS.put("limits.json",
                "limits in effect: requests, bytes, connections, heap, descriptors");
        PARTS.put("status.json",
                "what the status page shows: stores, fabrics, top buckets, errors");
        PARTS.put("metrics.txt", "all metrics");
        PARTS.put("audit.txt", "counters of the audit stream, no event");
        PARTS.put("threads.txt", "stacks of the platform threads");
        PARTS.put("log.txt", "the last 1000 lines of the log, without stacks");
        PARTS.put(DOCTOR, "the doctor's report on this machine, with --config alone");
    }

    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Option(names = "--list", description = "Only say what would be in the file.")
    private boolean list;

    @Option(names = {"-o",
            "--output"}, paramLabel = "FILE", description = "Where to write; an existing file is not replaced (${DEFAULT-VALUE}).", defaultValue = "railhead-support.zip")
    private Path output = Path.of("railhead-support.zip");

    @Option(names = "--config", paramLabel = "FILE", description = "Add the doctor's report on this machine and this configuration; for the machine that the gateway runs on.")
    private @Nullable Path config;

    @Override
    public Integer call() throws IOException {
        admin.print("A support bundle has:");
        PARTS.forEach((name, content) -> {
            if (list || config != null || !name.equals(DOCTOR)) {
                admin.print(String.format("  %-13s %s", name, content));
            }
        });
        if (list) {
            return 0;
        }
        if (Files.exists(output)) {
            throw new IOException(output + " exists already; name another file by --output");
        }
        Map<String, String> texts = collected();
        write(texts);
        admin.print("written: " + output + ", " + texts.size() + " files");
        return texts.keySet().containsAll(expected()) ? 0 : 1;
    }

    private Set<String> expected() {
        Map<String, String> expected = new LinkedHashMap<>(PARTS);
        if (config == null) {
            expected.remove(DOCTOR);
        }
        return expected.keySet();
    }

    private Map<String, String> collected() throws IOException {
        JsonNode parts = admin.call("support", AdminOptions.JSON.createObjectNode(), _ -> {})
                .path("parts");
        Map<String, String> texts = new LinkedHashMap<>();
        for (String name : expected()) {
            if (parts.hasNonNull(name)) {
                texts.put(name, parts.get(name).asText());
            }
        }
        if (config != null) {
            texts.put(DOCTOR, doctor(config));
        }
        return texts;
    }

    private static String doctor(Path config) {
        StringWriter report = new StringWriter();
        new CommandLine(new DoctorCommand()).setOut(new PrintWriter(report, true))
                .setErr(new PrintWriter(new StringWriter(), true))
                .execute("--json", "--config", config.toString());
        return report.toString();
    }

    private void write(Map<String, String> texts) throws IOException {
        Files.createFile(output, PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString("rw-------")));
        try (OutputStream file = Files.newOutputStream(output, StandardOpenOption.WRITE);
                ZipOutputStream zip = new ZipOutputStream(file)) {
            for (Map.Entry<String, String> text : texts.entrySet()) {
                zip.putNextEntry(new ZipEntry(text.getKey()));
                zip.write(text.getValue().getBytes(StandardCharsets.UTF_8));
                zip.closeEntry();
            }
        }
    }
}
