package io.railhead.cli.doctor;

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

    static Optional<HostProcess> of(Host host, int port) {
        Set<String> sockets = sockets(host, port);
        return sockets.isEmpty()
                ? Optional.empty()
                : HostProcess.holding(host, sockets::contains).stream().findFirst();
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
}
