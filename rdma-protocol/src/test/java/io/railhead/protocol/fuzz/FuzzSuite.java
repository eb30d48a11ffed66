package io.railhead.protocol.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/**
 * What is done with a module's fuzz targets. In every build their corpora are replayed and broken
 * in seeded ways; with the profile {@code fuzz}, Jazzer works on each of them for
 * {@code -Dfuzz.seconds}, or only on {@code -Dfuzz.target}.
 */
public abstract class FuzzSuite {
    private static final int ROUNDS = 4_000;
    private static final long[] SEEDS = {1, 2};

    protected abstract List<FuzzTarget> targets();

    @TestFactory
    Stream<DynamicTest> corporaAreTakenOrRefused() {
        return each(target -> {
            assertThat(target.inputs()).isNotEmpty();
            for (Path input : target.inputs()) {
                run(target, Files.readAllBytes(input), input.getFileName().toString());
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> brokenCorporaAreTakenOrRefused() {
        return each(target -> {
            List<byte[]> originals = new ArrayList<>();
            for (Path input : target.inputs()) {
                originals.add(Files.readAllBytes(input));
            }
            for (long seed : SEEDS) {
                Mutations mutations = new Mutations(originals, new Random(seed));
                for (int round = 0; round < ROUNDS; round++) {
                    run(target, mutations.next(), "seed " + seed + ", round " + round);
                }
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> jazzerFindsNothing() {
        Integer seconds = Integer.getInteger("fuzz.seconds");
        String only = System.getProperty("fuzz.target");
        return seconds == null ? Stream.empty() : each(target -> {
            if (only != null && !only.equals(target.name())) {
                return;
            }
            JazzerRun jazzer = new JazzerRun(target);
            assertThat(jazzer.run(seconds)).as("see %s", jazzer.work().toAbsolutePath()).isZero();
        });
    }

    private interface Step {
        void on(FuzzTarget target) throws Exception;
    }

    private Stream<DynamicTest> each(Step step) {
        return targets().stream().map(target -> {
            Executable test = () -> step.on(target);
            return DynamicTest.dynamicTest(target.name(), test);
        });
    }

    private static void run(FuzzTarget target, byte[] input, String name) {
        try {
            target.body().accept(input);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(name + ": " + HexFormat.of().formatHex(input), e);
        }
    }
}
