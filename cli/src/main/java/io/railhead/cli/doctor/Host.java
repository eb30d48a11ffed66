package io.railhead.cli.doctor;

import io.railhead.os.HostLimits;
import io.railhead.os.SharedLibrary;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A machine's files as this process sees them.
 *
 * @param root the folder with /proc, /sys, /dev and the rest
 * @param accessible whether this user may read and write a file
 * @param loadable whether a shared library of this name can be loaded
 */
record Host(Path root, Predicate<Path> accessible, Predicate<String> loadable) {

    /** Returns the host of this process. */
    static Host local() {
        return below(Path.of("/"));
    }

    /** Returns a host whose files lie below another folder. */
    static Host below(Path root) {
        return new Host(root, path -> Files.isReadable(path) && Files.isWritable(path),
                SharedLibrary::isLoadable);
    }

    /** Returns a file or folder by its absolute path. */
    Path at(String path) {
        return root.resolve(path.substring(1));
    }

    boolean has(String path) {
        return Files.exists(at(path));
    }

    boolean mayUse(String path) {
        return accessible.test(at(path));
    }

    /** Returns the first line, stripped; empty if it is missing or unreadable. */
    Optional<String> line(String path) {
        return lines(path).stream().findFirst().map(String::strip);
    }

    List<String> lines(String path) {
        try {
            return Files.readAllLines(at(path));
        } catch (IOException e) {
            // A gateway could not read this file either.
            return List.of();
        }
    }

    /** Returns the sorted names in a folder; none if there is no such folder. */
    List<String> names(String path) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(at(path))) {
            stream.forEach(child -> names.add(child.getFileName().toString()));
        } catch (IOException e) {
            return List.of();
        }
        names.sort(null);
        return names;
    }

    List<RdmaDevice> devices() {
        return RdmaDevices.read(at("/sys"));
    }

    /**
     * Returns a soft limit of this process by its name in /proc/self/limits; unlimited is the
     * largest number.
     */
    long limit(String name) {
        return lines("/proc/self/limits").stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split("\\s+", 2)[0])
                .filter(word -> word.matches("[0-9]+"))
                .map(Long::parseLong)
                .findFirst()
                .orElse(Long.MAX_VALUE);
    }

    HostLimits limits() {
        return HostLimits.read(root, limit("Max locked memory"));
    }

    /** Returns the kind of container; empty outside one. */
    Optional<String> container() {
        if (has("/var/run/secrets/kubernetes.io")) {
            return Optional.of("a Kubernetes pod");
        }
        return has("/.dockerenv") || has("/run/.containerenv")
                ? Optional.of("a container")
                : Optional.empty();
    }
}
