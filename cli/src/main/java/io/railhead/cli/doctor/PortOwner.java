package io.railhead.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the process that listens on a TCP port, as far as this user may see it. */
final class PortOwner {
    private static final String LISTENING = "0A";
    private static final int ADDRESS = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private PortOwner() {}

    /** Returns text such as "nginx (pid 123)". */
    static Optional<String> of(Host host, int port) {
        Set<String> sockets = sockets(host, port);
        return sockets.isEmpty()
                ? Optional.empty()
                : host.names("/proc")
                        .stream()
                        .filter(pid -> pid.matches("\\d+"))
                        .filter(pid -> host.names("/proc/" + pid + "/fd")
                                .stream()
                                .anyMatch(fd -> sockets.contains(link(host, pid, fd))))
                        .map(pid -> host.line("/proc/" + pid + "/comm").orElse("a process")
                                + " (pid " + pid + ")")
                        .findFirst();
    }

    private static Set<String> sockets(Host host, int port) {
        String suffix = String.format(Locale.ROOT, ":%04X", port);
        return Stream.of("/proc/net/tcp", "/proc/net/tcp6")
                .flatMap(file -> host.lines(file).stream().skip(1))
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length > INODE && words[ADDRESS].endsWith(suffix)
                        && words[STATE].equals(LISTENING))
                .map(words -> "socket:[" + words[INODE] + "]")
                .collect(Collectors.toSet());
    }

    private static String link(Host host, String pid, String fd) {
        try {
            return Files.readSymbolicLink(host.at("/proc/" + pid + "/fd/" + fd)).toString();
        } catch (IOException e) {
            // The descriptor is another user's, or closed by now.
            return "";
        }
    }
}
