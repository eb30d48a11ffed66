package io.railhead.os.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * C compilers over the headers of rdma-core that are installed, the same for every machine, and
 * nothing else of this host's. A test without them is skipped and says so.
 */
final class RdmaCoreHeaders {
    private static final Path INSTALLED = Path.of("/usr/include");

    private final Path folder;
    private final Path include;

    /** Copies the headers into a folder of the test's. */
    RdmaCoreHeaders(Path folder) throws IOException {
        this.folder = folder;
        include = folder.resolve("include");
        for (String header : List.of("infiniband/verbs.h", "infiniband/mlx5dv.h",
                "rdma/rdma_cma.h")) {
            if (!Files.exists(INSTALLED.resolve(header))) {
                abort("no " + INSTALLED.resolve(header)
                        + "; install libibverbs-dev and librdmacm-dev");
            }
        }
        for (String name : List.of("infiniband", "rdma")) {
            Path target = Files.createDirectories(include.resolve(name));
            try (DirectoryStream<Path> found = Files
                    .newDirectoryStream(INSTALLED.resolve(name), "*.h")) {
                for (Path header : found) {
                    Files.copy(header, target.resolve(header.getFileName()));
                }
            }
        }
    }

    /** Puts a source of this package's resources into the folder. */
    Path source(String name) throws IOException {
        try (InputStream resource = Objects
                .requireNonNull(RdmaCoreHeaders.class.getResourceAsStream(name), name)) {
            Path target = folder.resolve(name);
            Files.copy(resource, target);
            return target;
        }
    }

    /** What the compiler says; nothing where all is well. */
    String compile(String compiler, Path source, String... options)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(compiler, "-std=gnu11", "-isystem",
                include.toString(), source.toString()));
        command.addAll(List.of(options));
        try {
            return run(command);
        } catch (IOException e) {
            return abort("no compiler " + compiler);
        }
    }

    /** What a program prints. */
    static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        process.waitFor();
        return output;
    }
}
