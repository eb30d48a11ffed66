package io.railhead.os;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;

/**
 * The memory of another process of this host, which it may be asked to open as a debugger may.
 *
 * <p> What is open is the process's memory map and not its number: once the process has ended or
 * executes another program, nothing is reached any more, whoever has that number then. Any thread.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_mem.5.html">proc_pid_mem(5)</a>
 */
public final class ProcessMemory implements AutoCloseable {
    private final FileChannel map;

    private ProcessMemory(FileChannel map) {
        this.map = map;
    }

    /**
     * Opens the memory of a process that runs as {@code uid} and as nobody else: one with other
     * rights, or that may not be looked into, is refused.
     *
     * @throws IOException where it is not, or the kernel forbids it
     */
    public static ProcessMemory open(int pid, int uid) throws IOException {
        Path process = Path.of("/proc", Integer.toString(pid));
        FileChannel map = FileChannel.open(process.resolve("mem"), StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            requireOwner(process, uid);
            return new ProcessMemory(map);
        } catch (IOException | RuntimeException | Error e) {
            map.close();
            throw e;
        }
    }

    /** Asked after the map was opened: what it was executed as before does not count. */
    private static void requireOwner(Path process, int uid) throws IOException {
        // The kernel gives what a process that must not be looked into has to root.
        if (!Integer.valueOf(uid).equals(Files.getAttribute(process.resolve("mem"), "unix:uid"))) {
            throw new IOException("process " + process.getFileName() + " may not be looked into");
        }
        List<String> all = Files.readAllLines(process.resolve("status"));
        boolean own = all.stream()
                .filter(line -> line.startsWith("Uid:"))
                .flatMap(line -> Arrays.stream(line.substring(4).trim().split("\\s+")))
                .allMatch(Integer.toString(uid)::equals);
        if (!own) {
            throw new IOException("process " + process.getFileName() + " has rights of others");
        }
    }

    /**
     * Fills the segment with the bytes from {@code address} on.
     *
     * @throws EOFException where the process has ended
     * @throws IOException where it has no such memory
     */
    public void read(long address, MemorySegment into) throws IOException {
        ByteBuffer to = into.asByteBuffer();
        while (to.hasRemaining()) {
            require(map.read(to, address + to.position()));
        }
    }

    /** Writes the segment's bytes from {@code address} on; throws as {@link #read}. */
    public void write(long address, MemorySegment bytes) throws IOException {
        ByteBuffer from = bytes.asByteBuffer();
        while (from.hasRemaining()) {
            require(map.write(from, address + from.position()));
        }
    }

    private static void require(int moved) throws IOException {
        if (moved <= 0) {
            throw new EOFException("the process's memory is gone");
        }
    }

    @Override
    public void close() {
        try {
            map.close();
        } catch (IOException e) {
            throw new OsException("close: " + e.getMessage(), 0);
        }
    }
}
