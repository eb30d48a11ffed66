package io.railhead.rdma.loopback;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A peer in a process of its own: registers a buffer, says its key, and waits to be killed. */
final class PeerProcess implements AutoCloseable {
    private final Process process;
    final int key;
    final long address;

    PeerProcess(Path socket, String sessionId, long bytes) throws IOException {
        process = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Xmx64m", "-cp",
                System.getProperty("java.class.path"), PeerProcess.class.getName(),
                socket.toString(), sessionId, Long.toString(bytes)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String line;
        BufferedReader said = process.inputReader();
        do {
            line = said.readLine();
            if (line == null) {
                throw new IOException("the peer process ended early");
            }
        } while (!line.startsWith("registered "));
        String[] words = line.split(" ", -1);
        key = Integer.parseInt(words[1]);
        address = Long.parseLong(words[2]);
    }

    /** As {@code kill -9} does. */
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        kill();
        process.onExit().join();
    }

    public static void main(String[] args) throws Exception {
        long bytes = Long.parseLong(args[2]);
        LoopbackClient peer = LoopbackClient.connect(Path.of(args[0]), args[1], LoopbackRig.KEY,
                LoopbackRig.PATIENCE);
        try (MemoryFile file = MemoryFile.create("peer", bytes); Mapping mapping = file.map()) {
            long address = mapping.segment().address();
            System.out.println("registered " + peer.register(file, address) + " " + address);
            // Until it is killed, or the test that started it is.
            int _ = System.in.read();
        }
    }
}
