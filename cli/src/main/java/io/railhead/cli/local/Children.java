package io.railhead.cli.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A command's child processes and their folder. Whatever happens, even on Ctrl-C and SIGKILL, the
 * processes end and the folder is deleted. Any thread.
 */
public final class Children implements AutoCloseable {
    private static final long GRACE_SECONDS = 5;
    private static final int LONGEST_SOCKET_PATH = 100;

    private final Path folder;
    private final Deque<Process> processes = new ArrayDeque<>();
    private final Watchdog watchdog;
    private boolean closed;

    public Children(Path folder) throws IOException {
        this.folder = folder;
        watchdog = Watchdog.start(folder);
    }

    public Path folder() {
        return folder;
    }

    /** Starts a JVM of the same JDK, as {@link #start} does. */
    public Process java(String name, List<String> arguments, Map<String, String> environment,
            ProcessBuilder.Redirect output) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(javaProgram());
        command.addAll(arguments);
        return start(name, command, environment, output);
    }

    /** Returns the program of this JVM. */
    public static String javaProgram() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /**
     * Returns the command that starts this program in another JVM, with the same jars and the
     * launcher's AOT cache.
     */
    public static List<String> railhead(List<String> options, String... arguments) {
        List<String> command = new ArrayList<>(List.of(javaProgram(),
                "--enable-native-access=ALL-UNNAMED"));
        ManagementFactory.getRuntimeMXBean()
                .getInputArguments()
                .stream()
                .filter(option -> option.startsWith("-XX:AOTCache=")
                        || option.startsWith("-Xlog:aot"))
                .forEach(command::add);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"),
                "io.railhead.cli.Main"));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Starts a process whose log, and output unless it is piped, go to {@code name.log}. */
    public synchronized Process start(String name, List<String> command,
            Map<String, String> environment, ProcessBuilder.Redirect output) throws IOException {
        if (closed) {
            throw new IOException("stopped");
        }
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.appendTo(log(name).toFile()))
                .redirectOutput(output);
        builder.environment().putAll(environment);
        Process process = builder.start();
        processes.push(process);
        watchdog.watch(process);
        return process;
    }

    /** Writes a file of the folder that other users cannot read. */
    public Path privateFile(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        if (!Files.exists(file)) {
            Files.createFile(file, PosixFilePermissions
                    .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        return Files.writeString(file, text);
    }

    /** Returns the path for a UNIX socket in the folder. */
    public Path socket(String name) throws IOException {
        Path socket = folder.resolve(name);
        if (socket.toString().length() > LONGEST_SOCKET_PATH) {
            throw new IOException("the temporary folder's path is too long for a UNIX socket: "
                    + folder + "; set TMPDIR to a shorter one");
        }
        return socket;
    }

    public Path log(String name) {
        return folder.resolve(name + ".log");
    }

    /** Returns the end of a child's log, to explain its failure. */
    public String lastWords(String name) {
        try {
            List<String> lines = Files.readAllLines(log(name));
            return String.join(" | ", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
        } catch (IOException e) {
            return "no log: " + e.getMessage();
        }
    }

    public static void end(Process process) {
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
        try (watchdog; Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the folder " + folder + " is still there", e);
        }
    }
}
