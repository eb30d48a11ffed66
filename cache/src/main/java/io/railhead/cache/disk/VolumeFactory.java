package io.railhead.cache.disk;

import io.railhead.os.BlockFile;
import io.railhead.os.DirectFile;
import io.railhead.os.OsException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Opens the configured files and devices as volumes, or tells why it cannot. */
record VolumeFactory(DiskConfig config, Opener opener, Shape shape) {
    /** The time for a check of all disks together. */
    private static final Duration CHECK_PATIENCE = Duration.ofSeconds(5);
    static final String IN_USE = "another process uses it";
    private static final String DEVICES = "/dev/";

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
        requireOursToGrow(path);
        BlockFile file = opened(path, config.bytesEach());
        try {
            return DiskVolume.of(file, opening(file, path).open(layout(path, file)),
                    config.tenants());
        } catch (DiskRefusedException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** Tries each disk, and changes none. It waits some seconds at most. */
    List<DiskTrial> trials() {
        return trials(config.paths(), this::trial, CHECK_PATIENCE);
    }

    static List<DiskTrial> trials(List<String> paths, Function<String, DiskTrial> trialOf,
            Duration patience) {
        List<CompletableFuture<DiskTrial>> answers = new ArrayList<>();
        for (String path : paths) {
            CompletableFuture<DiskTrial> answer = new CompletableFuture<>();
            answers.add(answer.completeOnTimeout(new DiskTrial(path,
                    path + ": it did not answer within " + patience.toSeconds() + " s", ""),
                    patience.toMillis(), TimeUnit.MILLISECONDS));
            Thread.ofPlatform()
                    .daemon()
                    .name("railhead-disk-check")
                    .start(() -> answer.complete(trialOf.apply(path)));
        }
        return answers.stream().map(CompletableFuture::join).toList();
    }

    private DiskTrial trial(String path) {
        try {
            return new DiskTrial(path, "", tryContent(path));
        } catch (DiskRefusedException e) {
            String problem = String.valueOf(e.getMessage());
            return new DiskTrial(path, problem, problem.endsWith(IN_USE) ? peek(path) : "");
        } catch (IOException | RuntimeException | Error e) {
            return new DiskTrial(path, path + ": " + e, "");
        }
    }

    /** Returns why the pages on it would be dropped; "" if they would not. */
    private String tryContent(String path) throws IOException, DiskRefusedException {
        long bytes = size(path);
        if (bytes == 0) {
            tryFolder(path);
        }
        requireOursToGrow(path);
        requireSpace(path, bytes);
        if (bytes == 0) {
            return "";
        }
        try (BlockFile file = opened(path, 0)) {
            return dropped(file, path);
        }
    }

    /** Returns why a disk in use would lose its pages at the next start; "" if nobody knows. */
    private String peek(String path) {
        try (BlockFile file = DirectFile.openForReads(path)) {
            return dropped(file, path);
        } catch (DiskRefusedException | IOException | RuntimeException | Error e) {
            // Its user may be about to change it, and says what is wrong at its own start.
            return "";
        }
    }

    private String dropped(BlockFile file, String path)
            throws DiskRefusedException, IOException {
        long bytes = config.bytesEach() == 0 ? file.bytes() : config.bytesEach();
        if (file.bytes() < bytes) {
            return DiskFormat.look(Path.of(path)).volume() == null
                    ? ""
                    : VolumeOpening.ANOTHER_SIZE;
        }
        try {
            return opening(file, path).check(shape.of(bytes, config.pageBytes()));
        } catch (IllegalArgumentException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }

    /** Returns 0 if there is nothing yet. */
    private long size(String path) throws DiskRefusedException {
        if (Files.notExists(Path.of(path))) {
            requireNoDevice(path);
            return 0;
        }
        try (BlockFile file = opened(path, 0)) {
            return file.bytes();
        }
    }

    /**
     * Refuses a file that is too short and holds something else: to grow it would change it. Files
     * that hold pages, or nothing, become as long as is configured.
     */
    private void requireOursToGrow(String path) throws DiskRefusedException {
        Path file = Path.of(path);
        if (Files.notExists(file) || DirectFile.isDevice(path)) {
            return;
        }
        try {
            long size = Files.size(file);
            if (size > 0 && size < config.bytesEach()) {
                DiskContent content = DiskFormat.look(file);
                if (content.volume() == null && !content.isBlank()) {
                    throw VolumeOpening.foreign(path, content.words());
                }
            }
        } catch (IOException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }

    /** Makes a file of one block in the folder of a file that is not there yet, and removes it. */
    private void tryFolder(String path) throws IOException, DiskRefusedException {
        Path folder = Path.of(path).toAbsolutePath().resolveSibling("");
        String trial;
        try {
            trial = Files.createTempFile(folder, ".railhead-", ".trial").toString();
        } catch (AccessDeniedException e) {
            throw new DiskRefusedException(path + ": " + forbidden(), e);
        }
        try {
            opened(trial, DiskLayout.UNIT_BYTES).close();
        } catch (DiskRefusedException e) {
            throw new DiskRefusedException(
                    String.valueOf(e.getMessage()).replace(trial, path), e);
        } finally {
            boolean _ = Files.deleteIfExists(Path.of(trial));
        }
    }

    private void requireSpace(String path, long bytes) throws DiskRefusedException {
        long missing = config.bytesEach() - bytes;
        if (missing <= 0) {
            return;
        }
        if (DirectFile.isDevice(path)) {
            throw new DiskRefusedException(path + ": the device has " + bytes
                    + " bytes, and cache.disk.size is " + config.bytesEach());
        }
        Path folder = Path.of(path).toAbsolutePath().resolveSibling("");
        // A file store needs a mount point, which a chroot does not have.
        long free = folder.toFile().getUsableSpace();
        if (free < missing) {
            throw new DiskRefusedException(path + ": its file system has " + (free >> 20)
                    + " MiB left, and the file needs " + (missing >> 20) + " MiB more");
        }
    }

    private VolumeOpening opening(BlockFile file, String path) {
        return new VolumeOpening(file, path, new SecureRandom(), config.keys());
    }

    private BlockFile opened(String path, long bytes) throws DiskRefusedException {
        return opened(opener, path, bytes);
    }

    /** Opens a file or device; says in an operator's words why it cannot. */
    static BlockFile opened(Opener opener, String path, long bytes) throws DiskRefusedException {
        if (Files.notExists(Path.of(path))) {
            requireNoDevice(path);
        }
        try {
            return opener.open(path, bytes);
        } catch (OsException e) {
            throw new DiskRefusedException(path + ": " + reason(e), e);
        }
    }

    /** Refuses to make a file where devices are: it would take memory. */
    private static void requireNoDevice(String path) throws DiskRefusedException {
        if (path.startsWith(DEVICES)) {
            throw new DiskRefusedException(path + ": there is no such device");
        }
    }

    private static String forbidden() {
        return "user " + System.getProperty("user.name") + " may not read and write it";
    }

    private static String reason(OsException refusal) {
        if (DirectFile.isLocked(refusal)) {
            return IN_USE;
        }
        if (DirectFile.isMounted(refusal)) {
            return "it is mounted, or swap, or part of a RAID or of a volume group, or another"
                    + " container has it";
        }
        if (DirectFile.isForbidden(refusal)) {
            return forbidden();
        }
        return DirectFile.isRefusedDirect(refusal)
                ? "its file system refuses direct reads and writes (O_DIRECT)"
                : String.valueOf(refusal.getMessage());
    }

    private DiskLayout layout(String path, BlockFile file) throws DiskRefusedException {
        try {
            return shape.of(file.bytes(), config.pageBytes());
        } catch (IllegalArgumentException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }
}
