import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Copies jars with every entry stored instead of deflated. What an image's layer or an archive compresses as a whole gets
 * smaller by a quarter that way. The same jars give the same bytes. Usage: java StoreJars.java FROM TO
 */
final class StoreJars {
    private StoreJars() {}

    public static void main(String[] folders) throws IOException {
        Path to = Path.of(folders[1]);
        Files.createDirectories(to);
        List<Path> jars;
        try (Stream<Path> files = Files.list(Path.of(folders[0]))) {
            jars = files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
        }
        for (Path jar : jars) {
            store(jar, to.resolve(jar.getFileName()));
        }
    }

    private static void store(Path from, Path to) throws IOException {
        try (ZipFile jar = new ZipFile(from.toFile());
                OutputStream file = Files.newOutputStream(to);
                ZipOutputStream stored = new ZipOutputStream(file)) {
            stored.setMethod(ZipOutputStream.STORED);
            for (ZipEntry entry : Collections.list(jar.entries())) {
                byte[] content;
                try (InputStream in = jar.getInputStream(entry)) {
                    content = in.readAllBytes();
                }
                CRC32 crc = new CRC32();
                crc.update(content);
                ZipEntry copy = new ZipEntry(entry.getName());
                copy.setTimeLocal(entry.getTimeLocal());
                copy.setSize(content.length);
                copy.setCrc(crc.getValue());
                stored.putNextEntry(copy);
                stored.write(content);
                stored.closeEntry();
            }
        }
    }
}
