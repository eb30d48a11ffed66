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
 * The client of all contenders, a process of its own: a {@link MeasuredRun} per line in, a
 * {@link RunResult} per line out, until its input ends.
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
            RunResult runResult = measure(Json.read(line, MeasuredRun.class));
            spec.commandLine().getOut().println(Json.line(runResult));
            spec.commandLine().getOut().flush();
        }
        return 0;
    }

    private static RunResult measure(MeasuredRun measuredRun) {
        OneShotRequest oneShotRequest = measuredRun.errand();
        return oneShotRequest == null
                ? measureOften(measuredRun)
                : measureOnce(measuredRun, oneShotRequest);
    }

    private static RunResult measureOnce(MeasuredRun measuredRun, OneShotRequest oneShotRequest) {
        try (ErrandLoad load = ErrandLoad.open(measuredRun, oneShotRequest)) {
            ProcessTime server = ProcessTime.of(measuredRun.serverPids());
            ProcessTime store = ProcessTime.of(measuredRun.storePids());
            CounterSnapshot before = CounterSnapshot.take(load, server, store);
            load.start();
            load.await();
            return CounterSnapshot.take(load, server, store).since(before, load);
        } catch (IOException | RuntimeException | Error e) {
            return RunResult.failed(OneLine.of(e));
        }
    }

    private static RunResult measureOften(MeasuredRun measuredRun) {
        try (Load load = open(measuredRun)) {
            load.start();
            pass(measuredRun.leadSeconds(), load);
            ProcessTime server = ProcessTime.of(measuredRun.serverPids());
            ProcessTime store = ProcessTime.of(measuredRun.storePids());
            CounterSnapshot before = CounterSnapshot.take(load, server, store);
            pass(measuredRun.seconds(), load);
            CounterSnapshot after = CounterSnapshot.take(load, server, store);
            while (after.endedInAll() - before.endedInAll() < LEAST_REQUESTS && after.nanos()
                    - before.nanos() < LONGEST * measuredRun.seconds() * 1e9) {
                pass(measuredRun.seconds() / LONGEST, load);
                after = CounterSnapshot.take(load, server, store);
            }
            return after.since(before, load);
        } catch (IOException | RuntimeException | Error e) {
            return RunResult.failed(OneLine.of(e));
        }
    }

    private static Load open(MeasuredRun measuredRun) throws IOException {
        return switch (measuredRun.way()) {
            case NATIVE -> NativeLoad.open(measuredRun);
            case COPY -> CopyLoad.open(measuredRun);
            case UNSIGNED, SIGNED, TOKEN ->
                HttpLoad.open(measuredRun, Runtime.getRuntime().availableProcessors());
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
