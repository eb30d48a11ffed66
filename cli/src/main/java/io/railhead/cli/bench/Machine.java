package io.railhead.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The machine and the time of a measurement.
 *
 * @param load the kernel's, of one, five and fifteen minutes, before it began
 */
record Machine(String date, String processor, int cores, String kernel, String java, String load,
        boolean isPinned) {

    static Machine here(Cores cores) throws IOException {
        String processor = Files.readString(Path.of("/proc/cpuinfo"))
                .lines()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse(System.getProperty("os.arch"));
        String[] load = Files.readString(Path.of("/proc/loadavg")).split(" ", -1);
        return new Machine(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), processor,
                Runtime.getRuntime().availableProcessors(), System.getProperty("os.version"),
                System.getProperty("java.vm.version"), load[0] + " " + load[1] + " " + load[2],
                cores.isPinned());
    }
}
