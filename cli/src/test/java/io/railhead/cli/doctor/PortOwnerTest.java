package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A machine that is a folder. */
class PortOwnerTest {
    @TempDir
    Path root;

    @Test
    void whoListensOnAPortIsNamed() throws IOException {
        MachineFolder machine = new MachineFolder(root);
        machine.write("proc/net/tcp",
                """
                          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
                           0: 00000000:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1
                        """);
        machine.write("proc/42/comm", "nginx\n");
        Path descriptors = Files.createDirectories(root.resolve("proc/42/fd"));
        Files.createSymbolicLink(descriptors.resolve("7"), Path.of("socket:[4711]"));
        Host host = new Host(root, Files::exists, _ -> false);
        assertThat(PortOwner.of(host, 9000)).contains(new HostProcess("42", "nginx"));
        assertThat(PortOwner.of(host, 9001)).isEmpty();
    }
}
