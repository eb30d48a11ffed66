package io.railhead.cache.disk;

import io.railhead.os.BlockFile;
import io.railhead.os.DirectFile;
import io.railhead.os.OsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** Opens the configured files and devices as volumes, or tells why it cannot. */
record VolumeFactory(DiskConfig config, Opener opener, Shape shape) {
    /** The time for a check of all disks together. */
    private static final Duration CHECK_PATIENCE = Duration.ofSeconds(5);

    VolumeFactory(DiskConfig config) {
        this(config, DirectFile::open, DiskLayout::of);
    }

    /** The way to a file or device; the tests' one is faulty. */
    interface Opener {
        /** Throws {@link OsException}. */
        BlockFile open(String path, long bytes);
    }

    /** The division of a file; the tests' one has small segments. */
    interface Shape {
        DiskLayout of(long volumeBytes, int pageBytes);
    }

    /** Opens a volume, which may take as long as the disk wants. */
    DiskVolume open(String path) throws DiskRefusedException {
        BlockFile file = opened(path, config.bytesEach());
        try {
            return new DiskVolume(file, opening(file, path).open(layout(path, file)),
                    config.tenants());
        } catch (DiskRefusedException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** Returns a line for each disk that cannot be used. It waits some seconds at most. */
    List<String> problems() {
        return problems(config.paths(), this::problem, CHECK_PATIENCE);
    }

    static List<String> problems(List<String> paths, UnaryOperator<String> problemOf,
            Duration patience) {
        List<CompletableFuture<String>> answers = new ArrayList<>();
        for (String path : paths) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            answers.add(answer.completeOnTimeout(
                    path + ": it did not answer within " + patience.toSeconds() + " s",
                    patience.toMillis(), TimeUnit.MILLISECONDS));
            Thread.ofPlatform()
                    .daemon()
                    .name("railhead-disk-check")
                    .start(() -> answer.complete(problemOf.apply(path)));
        }
        return answers.stream()
                .map(CompletableFuture::join)
                .filter(problem -> !problem.isEmpty())
                .toList();
    }

    /** Returns "" if the path could be used. */
    private String problem(String path) {
        if (Files.notExists(Path.of(path))) {
            return "";
        }
        try (BlockFile file = opened(path, 0)) {
            if (file.bytes() >= config.bytesEach()) {
                opening(file, path).check(layout(path, file));
            }
            return "";
        } catch (DiskRefusedException e) {
            return String.valueOf(e.getMessage());
        } catch (RuntimeException | Error e) {
            return path + ": " + e;
        }
    }

    private VolumeOpening opening(BlockFile file, String path) {
        return new VolumeOpening(file, path, new SecureRandom(), config.keys());
    }

    private BlockFile opened(String path, long bytes) throws DiskRefusedException {
        try {
            return opener.open(path, bytes);
        } catch (OsException e) {
            if (DirectFile.isLocked(e)) {
                throw new DiskRefusedException(path + ": another process uses it", e);
            }
            String why = DirectFile.isRefusedDirect(e)
                    ? "its file system refuses direct reads and writes (O_DIRECT)"
                    : e.getMessage();
            throw new DiskRefusedException(path + ": " + why, e);
        }
    }

    private DiskLayout layout(String path, BlockFile file) throws DiskRefusedException {
        try {
            return shape.of(file.bytes(), config.pageBytes());
        } catch (IllegalArgumentException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }
}
