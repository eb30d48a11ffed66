package io.railhead.cli.bench;

import io.railhead.cli.OneLine;
import io.railhead.cli.local.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The client of all contenders, a process of its own: a {@link Turn} per line in, a
 * {@link Measured} per line out, until its input ends.
 */
@Command(name = "bench-client", hidden = true, description = "Reads and writes for the bench.")
public final class BenchClientCommand implements Callable<Integer> {
    /** So many requests must have ended, or the time is up to this many times as long. */
    private static final int LEAST_REQUESTS = 16;
    private static final int LONGEST = 4;
    private static final long LOOK_NANOS = 20_000_000;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        BufferedReader in = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Measured measured = measure(Json.read(line, Turn.class));
            spec.commandLine().getOut().println(Json.line(measured));
            spec.commandLine().getOut().flush();
        }
        return 0;
    }

    private static Measured measure(Turn turn) {
        Errand errand = turn.errand();
        return errand == null ? measureOften(turn) : measureOnce(turn, errand);
    }

    private static Measured measureOnce(Turn turn, Errand errand) {
        try (ErrandLoad load = ErrandLoad.open(turn, errand)) {
            ProcessTime server = ProcessTime.of(turn.serverPids());
            ProcessTime store = ProcessTime.of(turn.storePids());
            Mark before = Mark.take(load, server, store);
            load.start();
            load.await();
            return Mark.take(load, server, store).since(before, load);
        } catch (IOException | RuntimeException | Error e) {
            return Measured.failed(OneLine.of(e));
        }
    }

    private static Measured measureOften(Turn turn) {
        try (Load load = open(turn)) {
            load.start();
            pass(turn.leadSeconds(), load);
            ProcessTime server = ProcessTime.of(turn.serverPids());
            ProcessTime store = ProcessTime.of(turn.storePids());
            Mark before = Mark.take(load, server, store);
            pass(turn.seconds(), load);
            Mark after = Mark.take(load, server, store);
            while (after.endedInAll() - before.endedInAll() < LEAST_REQUESTS && after.nanos()
                    - before.nanos() < LONGEST * turn.seconds() * 1e9) {
                pass(turn.seconds() / LONGEST, load);
                after = Mark.take(load, server, store);
            }
            return after.since(before, load);
        } catch (IOException | RuntimeException | Error e) {
            return Measured.failed(OneLine.of(e));
        }
    }

    private static Load open(Turn turn) throws IOException {
        return switch (turn.way()) {
            case NATIVE -> NativeLoad.open(turn);
            case COPY -> CopyLoad.open(turn);
            case UNSIGNED, SIGNED, TOKEN ->
                HttpLoad.open(turn, Runtime.getRuntime().availableProcessors());
        };
    }

    private static void pass(double seconds, Load load) throws IOException {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(Math.min(left, LOOK_NANOS));
            load.requireRunning();
        }
    }
}
