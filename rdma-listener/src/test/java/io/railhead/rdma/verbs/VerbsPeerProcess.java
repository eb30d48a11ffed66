package io.railhead.rdma.verbs;

import io.railhead.client.verbs.VerbsClient;
import io.railhead.client.verbs.VerbsClientConfig;
import io.railhead.rdma.session.ClientSession;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/** A peer in a process of its own: registers a buffer, says its key, and waits to be killed. */
final class VerbsPeerProcess implements AutoCloseable {
    private final Process process;
    private final int key;
    private final long address;

    private VerbsPeerProcess(Process process, int key, long address) {
        this.process = process;
        this.key = key;
        this.address = address;
    }

    static VerbsPeerProcess start(VerbsRig rig, ClientSession clientSession, long bytes)
            throws IOException {
        Process process = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC", "-Xmx64m", "-cp", System.getProperty("java.class.path"),
                VerbsPeerProcess.class.getName(), Integer.toString(rig.gateway().getPort()),
                clientSession.id(), Long.toString(bytes),
                Integer.toString(rig.peerConfig().maxRequests())))
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
        return new VerbsPeerProcess(process, Integer.parseInt(words[1]), Long.parseLong(words[2]));
    }

    int key() {
        return key;
    }

    long address() {
        return address;
    }

    /** As {@code kill -9} does; afterwards it is gone. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }

    public static void main(String[] args) throws Exception {
        InetSocketAddress gateway = new InetSocketAddress(VerbsRig.GATEWAY,
                Integer.parseInt(args[0]));
        VerbsClientConfig config = VerbsClientConfig
                .of(Integer.parseInt(args[3]), VerbsRig.PATIENCE)
                .from(VerbsRig.PEER);
        VerbsClient peer = VerbsClient.connect(config, gateway, args[1], VerbsRig.KEY);
        MemorySegment memory = Arena.global().allocate(Long.parseLong(args[2]), 4096);
        System.out.println("registered " + peer.register(memory) + " " + memory.address());
        // Until it is killed, or the test that started it is.
        int _ = System.in.read();
    }
}
