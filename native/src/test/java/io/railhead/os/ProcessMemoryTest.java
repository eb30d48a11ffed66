package io.railhead.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProcessMemoryTest {
    private final Arena arena = Arena.ofConfined();
    private int uid;
    private Process shell;

    @BeforeEach
    void start() throws IOException {
        uid = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        // Says who it is, waits for a line, and becomes another program.
        shell = new ProcessBuilder("sh", "-c", "echo ready; read line; exec sleep 1000").start();
        assertThat(shell.inputReader().readLine()).isEqualTo("ready");
    }

    @AfterEach
    void end() throws InterruptedException {
        shell.destroyForcibly();
        assertThat(shell.waitFor(60, TimeUnit.SECONDS)).isTrue();
        arena.close();
    }

    private int pid() {
        return (int) shell.pid();
    }

    /** Where the process has memory to write to. */
    private long stack() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/" + pid() + "/maps"))
                .stream()
                .filter(map -> map.endsWith("[stack]"))
                .findAny()
                .orElseThrow();
        return Long.parseUnsignedLong(line.substring(line.indexOf('-') + 1, line.indexOf(' ')), 16)
                - 64;
    }

    @Test
    void whatIsWrittenIsRead() throws IOException {
        MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, new byte[]{1, 2, 3});
        MemorySegment read = arena.allocate(3);
        try (ProcessMemory memory = ProcessMemory.open(pid(), uid)) {
            memory.write(stack(), bytes);
            memory.read(stack(), read);
            assertThat(read.mismatch(bytes)).isEqualTo(-1);
            assertThatThrownBy(() -> memory.read(0, read)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> memory.write(0, bytes)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void aProcessOfAnotherUserIsRefused() {
        assertThatThrownBy(() -> ProcessMemory.open(pid(), uid + 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("may not be looked into");
        assertThatThrownBy(() -> ProcessMemory.open(0, uid)).isInstanceOf(IOException.class);
    }

    @Test
    void nothingIsReachedOfAnotherProgramInTheSameProcess() throws Exception {
        try (ProcessMemory memory = ProcessMemory.open(pid(), uid)) {
            Path program = Path.of("/proc/" + pid() + "/exe");
            Path before = Files.readSymbolicLink(program);
            shell.outputWriter().append('\n').flush();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (Files.readSymbolicLink(program).equals(before)) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.onSpinWait();
            }
            assertGone(memory, stack());
        }
    }

    @Test
    void nothingIsReachedOfAProcessThatHasEnded() throws Exception {
        try (ProcessMemory memory = ProcessMemory.open(pid(), uid)) {
            long stack = stack();
            shell.destroyForcibly().waitFor();
            assertGone(memory, stack);
        }
    }

    private void assertGone(ProcessMemory memory, long address) {
        assertThatThrownBy(() -> memory.write(address, arena.allocate(1)))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> memory.read(address, arena.allocate(1)))
                .isInstanceOf(IOException.class);
    }
}
