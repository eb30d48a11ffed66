package io.railhead.os.verbs;

import io.railhead.os.Descriptors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** This process's descriptors of verbs devices, as the kernel lists them. */
final class VerbsDescriptors {
    private static final Path OWN = Path.of("/proc/self/fd");
    private static final String DEVICE = "/dev/infiniband/uverbs";
    /** Of a context, or of a completion channel. */
    private static final String EVENTS = "anon_inode:[infinibandevent]";

    private VerbsDescriptors() {}

    /**
     * Closes all of them for the kernel, which then destroys whatever was made by them. The numbers
     * stay taken, so that a library which closes them later closes nothing else.
     *
     * @return how many
     */
    static int detachAll() {
        int detached = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(OWN)) {
            for (Path entry : entries) {
                if (isOfDevice(entry)) {
                    Descriptors.detach(Integer.parseInt(entry.getFileName().toString()));
                    detached++;
                }
            }
            return detached;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOfDevice(Path entry) {
        try {
            String target = Files.readSymbolicLink(entry).toString();
            return target.startsWith(DEVICE) || target.equals(EVENTS);
        } catch (IOException e) {
            // Closed meanwhile.
            return false;
        }
    }
}
