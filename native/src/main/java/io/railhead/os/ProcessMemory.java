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
 * The memory of another process on this host, opened as a debugger may open it.
 *
 * <p> The descriptor refers to the process's memory map, not to its number. Once the process has
 * ended or executes another program, nothing is reached any more, even if another process has the
 * number. Any thread.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_mem.5.html">proc_pid_mem(5)</a>
 */
public final class ProcessMemory implements AutoCloseable {
    private final FileChannel map;

    private ProcessMemory(FileChannel map) {
        this.map = map;
    }

    /**
     * Opens the memory of a process that runs entirely as {@code uid}. A process with other rights,
     * or one that forbids inspection, is refused.
     *
     * @throws IOException if it is refused, or the kernel forbids the access
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

    /**
     * Checks the owner after the map was opened, so that an earlier program of the process does not
     * count.
     */
    private static void requireOwner(Path process, int uid) throws IOException {
        // The kernel assigns files of a process that forbids inspection to root.
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
     * @throws EOFException if the process has ended
     * @throws IOException if it has no such memory
     */
    public void read(long address, MemorySegment into) throws IOException {
        ByteBuffer to = into.asByteBuffer();
        while (to.hasRemaining()) {
            require(map.read(to, address + to.position()));
        }
    }

    /** Writes the segment's bytes from {@code address} on; throws as {@link #read} does. */
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
