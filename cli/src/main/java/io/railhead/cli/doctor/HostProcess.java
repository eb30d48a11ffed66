package io.railhead.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.function.Predicate;

/** A process of this machine. */
record HostProcess(String pid, String name) {

    /**
     * Returns the processes with an open file that is such, as far as this user may see them.
     *
     * @param file tests the target of a descriptor's link
     */
    static List<HostProcess> holding(Host host, Predicate<String> file) {
        return host.names("/proc")
                .stream()
                .filter(pid -> pid.matches("\\d+"))
                .filter(pid -> host.names("/proc/" + pid + "/fd")
                        .stream()
                        .anyMatch(fd -> file.test(link(host, pid, fd))))
                .map(pid -> new HostProcess(pid,
                        host.line("/proc/" + pid + "/comm").orElse("a process")))
                .toList();
    }

    private static String link(Host host, String pid, String fd) {
        try {
            return Files.readSymbolicLink(host.at("/proc/" + pid + "/fd/" + fd)).toString();
        } catch (IOException e) {
            // The descriptor is another user's, or closed by now.
            return "";
        }
    }

    /** Returns text such as "nginx (pid 123)". */
    @Override
    public String toString() {
        return name + " (pid " + pid + ")";
    }
}
