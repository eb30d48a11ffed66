package io.railhead.cli.demo;

import io.railhead.cli.reading.SourceFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Real files to read: the JDK's own with this program's jars, or a folder of the user's. */
record DemoFiles(List<SourceFile> files, long bytes) {

    /** Returns this program's jars, then the JDK's largest file, which may be cut. */
    static List<Path> standard(Path jars) throws IOException {
        List<Path> files = new ArrayList<>();
        if (Files.isDirectory(jars)) {
            files.addAll(under(jars));
        }
        Path modules = Path.of(System.getProperty("java.home"), "lib", "modules");
        if (Files.isReadable(modules)) {
            files.add(modules);
        }
        return files;
    }

    static List<Path> under(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).filter(Files::isReadable).sorted().toList();
        }
    }

    /**
     * Takes files up to {@code most} bytes; the last one is cut to fit.
     *
     * @param scratch the folder for the copy of the cut file
     */
    static DemoFiles choose(List<Path> files, long most, Path scratch) throws IOException {
        List<SourceFile> chosen = new ArrayList<>();
        long bytes = 0;
        for (Path file : files) {
            long size = Files.size(file);
            if (size == 0 || bytes == most) {
                continue;
            }
            Path source = file;
            if (size > most - bytes) {
                size = most - bytes;
                source = cut(file, size, scratch);
            }
            chosen.add(new SourceFile(chosen.size() + "/" + file.getFileName(), source));
            bytes += size;
        }
        if (chosen.isEmpty()) {
            throw new IOException("there is no file to read");
        }
        return new DemoFiles(List.copyOf(chosen), bytes);
    }

    private static Path cut(Path file, long bytes, Path scratch) throws IOException {
        Path copy = scratch.resolve("cut");
        byte[] piece = new byte[1 << 20];
        try (InputStream in = Files.newInputStream(file);
                OutputStream out = Files.newOutputStream(copy)) {
            for (long left = bytes; left > 0;) {
                int n = in.read(piece, 0, (int) Math.min(piece.length, left));
                if (n < 0) {
                    throw new IOException(file + " became shorter");
                }
                out.write(piece, 0, n);
                left -= n;
            }
        }
        return copy;
    }
}
