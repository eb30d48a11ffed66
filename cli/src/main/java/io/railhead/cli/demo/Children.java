package io.railhead.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The demo's processes and its folder: whatever happens, also on Ctrl-C, all of them end and the
 * folder goes. Any thread.
 */
final class Children implements AutoCloseable {
    private static final long GRACE_SECONDS = 5;

    private final Path folder;
    private final Deque<Process> processes = new ArrayDeque<>();
    private boolean closed;

    Children(Path folder) {
        this.folder = folder;
    }

    Path folder() {
        return folder;
    }

    /** A JVM of the same JDK whose log is {@code name.log}; its output too, unless it is piped. */
    synchronized Process java(String name, List<String> arguments, Map<String, String> environment,
            ProcessBuilder.Redirect output) throws IOException {
        if (closed) {
            throw new IOException("the demo was stopped");
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.appendTo(log(name).toFile()))
                .redirectOutput(output);
        builder.environment().putAll(environment);
        Process process = builder.start();
        processes.push(process);
        return process;
    }

    Path log(String name) {
        return folder.resolve(name + ".log");
    }

    /** The end of a child's log, for the failure that it explains. */
    String lastWords(String name) {
        try {
            List<String> lines = Files.readAllLines(log(name));
            return String.join(" | ", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
        } catch (IOException e) {
            return "no log: " + e.getMessage();
        }
    }

    static void end(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor(GRACE_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        while (!processes.isEmpty()) {
            end(processes.pop());
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the demo's folder " + folder + " is still there", e);
        }
    }
}
