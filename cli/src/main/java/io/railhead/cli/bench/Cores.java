package io.railhead.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The processors of the server and of the client: half each, so that neither takes the other's
 * time. The store is left to the kernel: hits do not ask it.
 *
 * @param server as taskset lists them; null where nothing is pinned
 * @param serverCount how many threads a server should have
 */
record Cores(@Nullable String server, @Nullable String client, int serverCount) {

    /** What this process may use, in two halves; one core, or no taskset, is not pinned. */
    static Cores halves() throws IOException {
        List<Integer> all = allowed(Files.readString(Path.of("/proc/self/status")));
        if (all.size() < 2 || Programs.find("taskset") == null) {
            return free();
        }
        int half = all.size() / 2;
        return new Cores(list(all.subList(0, half)), list(all.subList(half, all.size())), half);
    }

    static Cores free() {
        return new Cores(null, null, Runtime.getRuntime().availableProcessors());
    }

    /** Of {@code Cpus_allowed_list: 0-3,8}. */
    static List<Integer> allowed(String status) {
        String line = status.lines()
                .filter(text -> text.startsWith("Cpus_allowed_list:"))
                .findFirst()
                .orElseThrow();
        List<Integer> cores = new ArrayList<>();
        for (String part : line.substring(line.indexOf(':') + 1).strip().split(",", -1)) {
            String[] ends = part.split("-", 2);
            for (int core = Integer.parseInt(ends[0]); core <= Integer
                    .parseInt(ends[ends.length - 1]); core++) {
                cores.add(core);
            }
        }
        return cores;
    }

    private static String list(List<Integer> cores) {
        return cores.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    boolean isPinned() {
        return server != null;
    }

    List<String> onServer(List<String> command) {
        return pinned(server, command);
    }

    List<String> onClient(List<String> command) {
        return pinned(client, command);
    }

    private static List<String> pinned(@Nullable String cores, List<String> command) {
        List<String> whole = new ArrayList<>(ownSession());
        if (cores != null) {
            whole.addAll(List.of("taskset", "-c", cores));
        }
        whole.addAll(command);
        return whole;
    }

    /**
     * Brings all threads of these servers back to their cores. A program may choose cores of its
     * own when it starts: Traffic Server binds its threads to every core that there is, the
     * client's too.
     */
    void holdOnServer(List<Long> pids) throws IOException {
        for (long pid : server == null ? List.<Long>of() : pids) {
            String said = Programs.output(List.of("taskset", "--all-tasks", "--cpu-list", "--pid",
                    String.valueOf(server), Long.toString(pid)));
            for (Path thread : threads(pid)) {
                if (!list(allowed(Files.readString(thread.resolve("status")))).equals(server)) {
                    throw new IOException("a thread of process " + pid
                            + " does not stay on cores " + server + ": " + said);
                }
            }
        }
    }

    private static List<Path> threads(long pid) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            return tasks.toList();
        }
    }

    /**
     * Linux shares processors among sessions first (autogroups). Traffic Server makes a session of
     * its own, and would get more of a busy machine than all the others.
     */
    private static List<String> ownSession() {
        return Programs.find("setsid") == null ? List.of() : List.of("setsid");
    }
}
